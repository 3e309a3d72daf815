"""Where the data come from, how a download becomes what the loaders read, and checksums of that.

``python -m reproductions prepare NAME FOLDER`` looks for the files of a download in a folder, packs
them as the loaders read them, and writes them to the data directory.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse

from reproductions.data._home import data_home

_CHECKSUMS = Path(__file__).parent / "checksums.txt"
# The draw of 5 targets, 50 actives of each and 1,892 decoys.
_SUBSET_SEED = 2013
_UNPACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
}
_PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".xz": lzma.compress,
}


@dataclass(frozen=True)
class Source:
    """One folder of the data directory.

    Attributes
    ----------
    what, where, licence : str
        The set, its address, and what its source says about its use.
    files : mapping
        The files that experiments read, by the pattern that finds the file of the download from which
        each is packed; an empty pattern where there is no download.
    make : callable, optional
        Makes the contents of all files from the folder of the download, where packing is not enough.
    """

    what: str
    where: str
    licence: str
    files: Mapping[str, str]
    make: Callable[[Path], dict[str, bytes]] | None = None

    @property
    def can_be_prepared(self) -> bool:
        """Whether a command makes the files from a download."""
        return self.make is not None or all(self.files.values())


def only_file(folder: Path, pattern: str) -> Path:
    """Find the one file below a folder whose path ends like the pattern."""
    found = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if len(found) != 1:
        seen = "no file" if not found else f"{len(found)} files, such as {found[0]} and {found[1]},"
        raise FileNotFoundError(
            f"{seen} in {folder} ends like {pattern}. Give the folder of one whole download."
        )
    return found[0]


def _join_papers(folder: Path) -> dict[str, bytes]:
    """List year, paper and author of every authorship, by the tables of papers and their authors."""
    with only_file(folder, "papers.csv").open(newline="", encoding="utf-8") as file:
        csv.field_size_limit(1 << 24)
        year = {row["id"]: row["year"] for row in csv.DictReader(file)}
    with only_file(folder, "paper_authors.csv").open(newline="", encoding="utf-8") as file:
        pairs = [(row["paper_id"], row["author_id"]) for row in csv.DictReader(file)]
    pairs = sorted(set(pairs), key=lambda pair: (int(year[pair[0]]), int(pair[0]), int(pair[1])))
    lines = ["year,paper,author", *(f"{year[paper]},{paper},{author}" for paper, author in pairs)]
    return {"paper_authors.csv.gz": ("\n".join(lines) + "\n").encode()}


def _draw_compounds(folder: Path) -> dict[str, bytes]:
    """Draw the compounds of the ICML 2013 paper's numbers from all fingerprints."""
    X = sparse.load_npz(only_file(folder, "X_fp2.npz")).tocsr()
    target = np.load(only_file(folder, "target.npy"))
    rng = np.random.default_rng(_SUBSET_SEED)
    chosen = np.sort(rng.choice(np.unique(target[target > 0]), 5, replace=False))
    rows = [rng.choice(np.flatnonzero(target == one), 50, replace=False) for one in chosen]
    rows.append(rng.choice(np.flatnonzero(target == 0), 1892, replace=False))
    drawn = np.concatenate(rows)
    table, targets = io.BytesIO(), io.BytesIO()
    sparse.save_npz(table, X[drawn])
    np.save(targets, target[drawn])
    return {"subset2142_X.npz": table.getvalue(), "subset2142_target.npy": targets.getvalue()}


_CHANGEPOINTS = "https://github.com/tdhock/neuroblastoma-data"
_TABLES = ("inputs.csv.xz", "evaluation.csv.xz")
_SCHEMES = ("sequenceID", "profileID", "profileSize", "chrom")

SOURCES = {
    "adbench": Source(
        "imbalanced tables of ADBench; mammography and cover are read",
        "https://github.com/Minqi824/ADBench (adbench/datasets/Classical)",
        "BSD-2",
        {f"{name}.npz": f"*_{name}.npz" for name in ("mammography", "cover")},
    ),
    "chemistry_fp2": Source(
        "FP2 fingerprints (Open Babel, 1,021 bits) of 80 x 100 actives and 10,000 decoys, with their "
        "targets, as X_fp2.npz and target.npy; 2,142 of them, drawn with a seed, are read",
        "https://github.com/rdkit/benchmarking_platform (compounds of ChEMBL; the identifiers are its)",
        "BSD-3 (platform)",
        {"subset2142_X.npz": "X_fp2.npz", "subset2142_target.npy": "target.npy"},
        _draw_compounds,
    ),
    "ohsumed": Source(
        "OHSUMED of LETOR 3.0, features normalised within queries; the test parts of five folds",
        "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/",
        "none stated; for research",
        {
            f"QueryLevelNorm/Fold{k}_test.txt.gz": f"QueryLevelNorm/Fold{k}/test*.txt"
            for k in range(1, 6)
        },
    ),
    "letor_sample": Source(
        "251 queries, an example of LightGBM's",
        "https://github.com/microsoft/LightGBM (examples/lambdarank)",
        "MIT",
        {
            f"rank.{part}{end}": f"rank.{part}{end.removesuffix('.gz')}"
            for part in ("train", "test")
            for end in (".gz", ".query")
        },
    ),
    "nips_coauthor": Source(
        "papers of NIPS 1987 to 2017 with their authors",
        "https://www.kaggle.com/datasets/benhamner/nips-papers (papers.csv, paper_authors.csv)",
        "see the source",
        {"paper_authors.csv.gz": "paper_authors.csv"},
        _join_papers,
    ),
    "acl_coauthor": Source(
        "papers of the ACL Anthology to 2021 with their authors, as lines of year, paper and author",
        "https://github.com/acl-org/acl-anthology (data/xml)",
        "CC BY 4.0, older papers CC BY-NC-SA 3.0",
        {"paper_authors.csv.gz": ""},
    ),
    "multilabel": Source(
        "yeast and scene of Mulan, published parts",
        "https://mulan.sourceforge.net/datasets-mlc.html",
        "none stated",
        {
            f"{name}{end}": f"{name}{end.removesuffix('.gz')}"
            for name in ("yeast", "scene")
            for end in ("-train.arff.gz", "-test.arff.gz", ".xml")
        },
    ),
    "mnist": Source(
        "MNIST, training images",
        "https://yann.lecun.com/exdb/mnist/",
        "none stated",
        {name: name for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")},
    ),
    "fashion_mnist": Source(
        "Fashion-MNIST, test images",
        "https://github.com/zalandoresearch/fashion-mnist (data/fashion)",
        "MIT",
        {name: name for name in ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")},
    ),
    "cifar10": Source(
        "4,000 test images of CIFAR10 from JPEG copies, as X (uint8) and y; the original files "
        "data_batch_1.bin to data_batch_5.bin are read as well where they are there",
        "https://www.cs.toronto.edu/~kriz/cifar.html (original binary version)",
        "none stated",
        {"test_4000.npz": ""},
    ),
    "stl10": Source(
        "STL10, training images; never run here",
        "https://cs.stanford.edu/~acoates/stl10/ (binary version)",
        "none stated",
        {name: name for name in ("train_X.bin", "train_y.bin")},
    ),
    "chipseq": Source(
        "H3K4me3_TDH_immune: features, label errors and folds",
        f"{_CHANGEPOINTS} (data), or the set chipseq of the UCI repository",
        "none stated (UCI: CC BY 4.0)",
        {
            f"H3K4me3_TDH_immune/{name}": f"H3K4me3_TDH_immune/{name}"
            for name in (*_TABLES, "cv/equal_labels/folds.csv")
        },
    ),
    "neuroblastoma": Source(
        "3,418 labelled profiles: features, label errors and four schemes of folds",
        f"{_CHANGEPOINTS} (data/systematic)",
        "none stated",
        {
            f"systematic/{name}": f"systematic/{name}"
            for name in (*_TABLES, *(f"cv/{scheme}/folds.csv" for scheme in _SCHEMES))
        },
    ),
    "max_generalized_auc_results": Source(
        "the AUM paper's own table of iterations",
        "https://github.com/tdhock/max-generalized-auc",
        "none stated",
        {"figure-line-search-complexity.csv.gz": "figure-line-search-complexity.csv"},
    ),
    "aum_reference": Source(
        "one run of the authors' R packages in the protocol of Figure 6, made by us",
        "R packages aum and penaltyLearning",
        "ours",
        {"fig6_summary.csv": ""},
    ),
}
"""The folders of the data directory that experiments read."""


def missing(name: str) -> list[str]:
    """List the files of a source that are not in the data directory."""
    folder = data_home() / name
    return [file for file in SOURCES[name].files if not (folder / file).exists()]


def prepare(name: str, download: Path) -> list[Path]:
    """Pack the files of a download for the loaders, and write them to the data directory."""
    source = SOURCES[name]
    if not source.can_be_prepared:
        raise ValueError(
            f"No command makes {', '.join(source.files)} of {name}: {source.what}. "
            f"Source: {source.where}."
        )
    if source.make is not None:
        contents = source.make(download)
    else:
        contents = {
            file: content_of(only_file(download, pattern)) for file, pattern in source.files.items()
        }
    written = []
    for file, content in contents.items():
        path = data_home() / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_PACKED.get(path.suffix, bytes)(content))
        written.append(path)
    return written


def content_of(path: Path) -> bytes:
    """Read a file, unpacked."""
    return _UNPACKED.get(path.suffix, bytes)(path.read_bytes())


def digest(path: Path) -> str:
    """Return the SHA-256 of what a file holds, however it is packed; of an archive, of its arrays."""
    found = hashlib.sha256()
    if path.suffix == ".npz":
        with path.open("rb") as stream, np.load(stream) as arrays:
            for name in sorted(arrays.files):
                found.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
                found.update(np.ascontiguousarray(arrays[name]).tobytes())
    else:
        found.update(content_of(path))
    return found.hexdigest()


@lru_cache(maxsize=1)
def checksums() -> dict[str, str]:
    """Read the digests of the files from which the committed results come."""
    lines = _CHECKSUMS.read_text(encoding="utf-8").splitlines()
    return {path: value for value, path in (line.split(maxsplit=1) for line in lines)}
