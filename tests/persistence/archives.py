"""Model files taken apart and put together again."""

import json
import zipfile


def entries_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def schema_of(path):
    return json.loads(entries_of(path)["schema.json"])


def written(path, entries, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def rewritten(path, new_path, *, schema=None, header=None):
    """A copy of a model file with another schema or header."""
    entries = entries_of(path)
    if schema is not None:
        entries["schema.json"] = json.dumps(schema)
    if header is not None:
        entries["aucuba.json"] = json.dumps(header)
    return written(new_path, entries)
