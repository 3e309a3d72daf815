"""Model files taken apart and put together again."""

import json
import zipfile

from aucuba.persistence._archive import ARRAYS, DESCRIPTION, HEADER, array_bytes, read_arrays


def entries_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def description_of(path):
    return json.loads(entries_of(path)[DESCRIPTION])


def model_of(path):
    """The description of the model itself."""
    return description_of(path)["content"]["model"]


def arrays_of(path):
    entries = entries_of(path)
    return read_arrays(json.loads(entries[DESCRIPTION])["arrays"], entries[ARRAYS])


def attributes(node):
    """The attributes of an object in a description, as they are described."""
    parts = node["state"]["dict"]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def set_attribute(node, name, value):
    """Give an object in a description another attribute, in place."""
    pairs = {**attributes(node), name: value}.items()
    node["state"]["dict"] = [part for pair in pairs for part in pair]


def written(path, entries, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def rewritten(path, new_path, *, description=None, header=None, arrays=None):
    """A copy of a model file with another description, other arrays or another header."""
    entries = entries_of(path)
    if arrays is not None:
        description = description or json.loads(entries[DESCRIPTION])
        description["arrays"], entries[ARRAYS] = array_bytes(arrays)
    if description is not None:
        entries[DESCRIPTION] = json.dumps(description)
    if header is not None:
        entries[HEADER] = json.dumps(header)
    return written(new_path, entries)
