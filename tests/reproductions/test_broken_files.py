"""Every loader on small files of its own: whole, cut off, empty, and with other content."""

import gzip
import io
import json
import lzma

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from reproductions.data.changepoints import load_chipseq, load_neuroblastoma, load_tcpd
from reproductions.data.coauthors import load_coauthors
from reproductions.data.colour_images import load_cifar10, load_stl10
from reproductions.data.imbalanced import (
    load_a9a,
    load_adbench,
    load_fingerprint_subset,
    load_fingerprints,
)
from reproductions.data.letor_sample import load_letor_sample
from reproductions.data.mnist import load_mnist
from reproductions.data.multilabel import load_multilabel
from reproductions.data.ohsumed import load_ohsumed

pytest.importorskip("pandas")


def zipped(content):
    """Compress without a time stamp, so that every worker collects tests of the same name."""
    return gzip.compress(content, mtime=0)


def stored(save, *arrays, **named):
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


def idx(array):
    shape = np.array(array.shape, dtype=">u4").tobytes()
    return zipped(b"\0\0\x08" + bytes([array.ndim]) + shape + array.tobytes())


ARFF = "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
INPUTS = "sequenceID,n,sd\ns,10,1\nt,20,2\n"
MODELS = (
    "sequenceID,min.log.lambda,max.log.lambda,fp,fn,possible.fp,possible.fn,labels\n"
    + "".join(f"{name},-inf,0,1,0,1,1,1\n{name},0,inf,0,1,1,1,1\n" for name in "st")
)
SERIES = {"series": [{"raw": [0.0, None, 2.0]}]}
PROBLEM = {
    "inputs.csv.xz": lzma.compress(INPUTS.encode()),
    "evaluation.csv.xz": lzma.compress(MODELS.encode()),
}
FOLDS = b"sequenceID,fold\nt,2\ns,1\n"
LOADERS = {
    "coauthors": (
        lambda: load_coauthors("nips"),
        {
            "nips_coauthor/paper_authors.csv.gz": zipped(
                b"year,paper,author\n2001,p,Ada\n2001,p,Bob\n"
            )
        },
    ),
    "multilabel": (
        lambda: load_multilabel("yeast"),
        {
            "multilabel/yeast.xml": b'<labels>\n<label name="a"/>\n<label name="b"/>\n</labels>\n',
            "multilabel/yeast-train.arff.gz": zipped(f"{ARFF}0.5,1,0\n".encode()),
            "multilabel/yeast-test.arff.gz": zipped(f"{ARFF}0.5,1,0\n1,0,1\n".encode()),
        },
    ),
    "ohsumed": (
        lambda: load_ohsumed(1),
        {"ohsumed/QueryLevelNorm/Fold1_test.txt.gz": zipped(b"1 qid:1 1:0.5\n0 qid:1 2:1\n")},
    ),
    "mnist": (
        lambda: load_mnist("test"),
        {
            "mnist/t10k-images-idx3-ubyte.gz": idx(np.zeros((2, 28, 28), dtype=np.uint8)),
            "mnist/t10k-labels-idx1-ubyte.gz": idx(np.arange(2, dtype=np.uint8)),
        },
    ),
    "adbench": (
        lambda: load_adbench("letter"),
        {"adbench/letter.npz": stored(np.savez, X=np.eye(3), y=np.array([0, 1, 0]))},
    ),
    "a9a": (
        load_a9a,
        {"a9a/a9a.gz": zipped(b"1 1:1\n"), "a9a/a9a.t.gz": zipped(b"-1 2:1\n")},
    ),
    "fingerprints": (
        lambda: load_fingerprints(1),
        {
            "chemistry_fp2/X_fp2.npz": stored(sparse.save_npz, sparse.csr_array(np.eye(3))),
            "chemistry_fp2/target.npy": stored(np.save, np.array([0, 1, 1])),
        },
    ),
    "fingerprint subset": (
        load_fingerprint_subset,
        {
            "chemistry_fp2/subset2142_X.npz": stored(sparse.save_npz, sparse.csr_array(np.eye(3))),
            "chemistry_fp2/subset2142_target.npy": stored(np.save, np.array([0, 1, 1])),
        },
    ),
    "letor sample": (
        load_letor_sample,
        {
            "letor_sample/rank.train.gz": gzip.compress(b"1 1:0.5\n0 2:1\n3 7:1\n"),
            "letor_sample/rank.train.query": b"2\n1\n",
            "letor_sample/rank.test.gz": gzip.compress(b"1 1:0.5\n2 1:0.5\n"),
            "letor_sample/rank.test.query": b"1\n1\n",
        },
    ),
    "cifar10": (
        load_cifar10,
        {f"cifar10/data_batch_{k}.bin": bytes(3 * 3073) for k in range(1, 6)},
    ),
    "stl10": (
        load_stl10,
        {"stl10/train_X.bin": bytes(3 * 27648), "stl10/train_y.bin": b"\x01\x02\x0a"},
    ),
    "chipseq": (
        lambda: load_chipseq("one"),
        {
            **{f"chipseq/one/{name}": content for name, content in PROBLEM.items()},
            "chipseq/one/cv/equal_labels/folds.csv": FOLDS,
        },
    ),
    "neuroblastoma": (
        load_neuroblastoma,
        {
            **{f"neuroblastoma/systematic/{name}": content for name, content in PROBLEM.items()},
            "neuroblastoma/systematic/cv/sequenceID/folds.csv": FOLDS,
        },
    ),
    "tcpd": (
        load_tcpd,
        {
            "tcpd/annotations.json": json.dumps({"nile": {"6": [1]}, "absent": {}}).encode(),
            "tcpd/nile.json": json.dumps(SERIES).encode(),
        },
    ),
}
FILES = [(name, file) for name, (_, files) in LOADERS.items() for file in files]


def write(home, files):
    for file, content in files.items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_bytes(content)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", LOADERS)
def test_whole_files_load(home, name):
    load, files = LOADERS[name]
    write(home, files)
    load()


def test_one_row_is_a_table(home):
    load, files = LOADERS["multilabel"]
    write(home, files)
    assert_array_equal(load().X_train, [[0.5]])
    assert_array_equal(load().Y_train, [[1, 0]])


def test_queries_of_both_parts_are_numbered_on(home):
    load, files = LOADERS["letor sample"]
    write(home, files)
    assert_array_equal(load().qid, [0, 0, 1, 2, 3])
    assert_array_equal(load().grade, [1, 0, 3, 1, 2])


def test_folds_follow_the_order_of_the_inputs(home):
    load, files = LOADERS["chipseq"]
    write(home, files)
    assert_array_equal(load().fold, [1, 2])


@pytest.mark.parametrize("damage", ["half", "empty", "text"])
@pytest.mark.parametrize(("name", "file"), FILES)
def test_broken_files_are_named(home, name, file, damage):
    load, files = LOADERS[name]
    content = {"half": files[file][: len(files[file]) // 2], "empty": b"", "text": b"not found\n"}
    write(home, {**files, file: content[damage]})
    with pytest.raises(ValueError, match=r"is cut off or broken .* Fetch it again") as caught:
        load()
    assert str(home / file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "file", "content", "message"),
    [
        ("coauthors", "nips_coauthor/paper_authors.csv.gz", zipped(b"a,b\n1,2\n"), "'year'"),
        ("multilabel", "multilabel/yeast-train.arff.gz", zipped(ARFF.encode()), "no rows"),
        (
            "multilabel",
            "multilabel/yeast-test.arff.gz",
            zipped(f"{ARFF}0.5,1\n".encode()),
            "2 columns, its header names 3",
        ),
        ("mnist", "mnist/t10k-labels-idx1-ubyte.gz", zipped(b"\0\0\x08\x03\0\0"), "buffer"),
        ("adbench", "adbench/letter.npz", stored(np.savez, X=np.eye(3)), "KeyError: 'y"),
        (
            "fingerprints",
            "chemistry_fp2/target.npy",
            stored(np.save, np.array([0, 1])),
            r"shape \(2,\) for 3 fingerprints",
        ),
        (
            "chipseq",
            "chipseq/one/evaluation.csv.xz",
            lzma.compress(MODELS[: MODELS.index("t,-inf")].encode()),
            "KeyError: 't'",
        ),
        ("tcpd", "tcpd/nile.json", b"[]", "TypeError"),
    ],
)
def test_other_content_is_named(home, name, file, content, message):
    load, files = LOADERS[name]
    write(home, {**files, file: content})
    with pytest.raises(ValueError, match=message) as caught:
        load()
    assert str(home / file) in str(caught.value)


def test_annotations_without_series(home):
    load, files = LOADERS["tcpd"]
    write(home, {"tcpd/annotations.json": files["tcpd/annotations.json"]})
    with pytest.raises(
        FileNotFoundError, match=r"none of the series it names, such as absent\.json"
    ):
        load()
