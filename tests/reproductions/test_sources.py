"""The sources of the data: prepared from downloads, listed, checked."""

import gzip
import lzma
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from reproductions import __main__ as command
from reproductions.data import sources
from reproductions.data.coauthors import load_coauthors
from reproductions.data.imbalanced import load_adbench, load_fingerprint_subset
from reproductions.data.ohsumed import load_ohsumed

README = Path(command.__file__).parent / "README.md"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def download(tmp_path):
    folder = tmp_path / "download"
    folder.mkdir()
    return folder


def test_every_folder_that_an_experiment_reads_has_a_source():
    read = {
        folder
        for name in command.names()
        for folder in (*command.load(name).data, *command.load(name).optional)
    }
    assert read == set(sources.SOURCES)


def test_the_readme_has_every_source_and_file():
    text = README.read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if "|" in line}
    for name, source in sources.SOURCES.items():
        row = rows[f"`{name}`"]
        assert source.where.split()[0] in row
        assert source.licence in row
        assert ("prepare" in row) == source.can_be_prepared
    shown = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.MULTILINE))
    assert not shown, "checksums stand in data/checksums.txt alone"


def test_checksums_are_those_of_the_data(data_dir):
    checked = 0
    for path, expected in sources.checksums().items():
        name, _, file = path.partition("/")
        assert file in sources.SOURCES[name].files
        if (data_dir / path).exists():
            assert sources.digest(data_dir / path) == expected
            checked += 1
    if not checked:
        pytest.skip(f"none of the files in {data_dir}")


def test_a_digest_does_not_see_how_a_file_is_packed(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,2\n")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n1,2\n", 1))
    (tmp_path / "a.csv.xz").write_bytes(lzma.compress(b"x,y\n1,2\n"))
    assert len({sources.digest(path) for path in tmp_path.iterdir()}) == 1
    np.savez(tmp_path / "b.npz", X=np.eye(2), y=np.arange(2))
    np.savez_compressed(tmp_path / "c.npz", y=np.arange(2), X=np.eye(2))
    np.savez(tmp_path / "d.npz", X=np.eye(2), y=np.arange(1, 3))
    b, c, d = (sources.digest(tmp_path / f"{name}.npz") for name in "bcd")
    assert b == c != d


def test_plain_files_are_packed(home, download, capsys):
    for fold in range(1, 6):
        folder = download / "OHSUMED" / "QueryLevelNorm" / f"Fold{fold}"
        folder.mkdir(parents=True)
        (folder / "test.txt").write_text(f"1 qid:{fold} 1:0.5 45:1\n0 qid:{fold} 2:1\n")
        (folder / "train.txt").write_text("")
    assert command.main(["prepare", "ohsumed", str(download)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 5
    assert all(line.endswith("NOT what the committed results were computed from") for line in shown)
    found = load_ohsumed(2)
    assert found.X[0, 44] == 1.0
    np.testing.assert_array_equal(found.qid, [2, 2])


def test_tables_are_found_by_name(home, download):
    for name in ("23_mammography", "10_cover"):
        np.savez(download / f"{name}.npz", X=np.ones((2, 3)), y=np.array([0, 1]))
    assert [path.name for path in sources.prepare("adbench", download)] == [
        "mammography.npz",
        "cover.npz",
    ]
    X, y = load_adbench("cover")
    assert X.shape == (2, 3)
    np.testing.assert_array_equal(y, [False, True])


def test_papers_are_joined_with_their_authors(home, download):
    (download / "papers.csv").write_text('id,year,title\n7,1990,"A, b"\n3,1988,C\n')
    (download / "paper_authors.csv").write_text("id,paper_id,author_id\n1,7,5\n2,3,9\n3,7,4\n")
    (path,) = sources.prepare("nips_coauthor", download)
    assert gzip.decompress(path.read_bytes()) == (
        b"year,paper,author\n1988,3,9\n1990,7,4\n1990,7,5\n"
    )
    data = load_coauthors("nips")
    np.testing.assert_array_equal(data.year, [1988, 1990, 1990])


def test_compounds_are_drawn_as_in_the_results(home, data_dir, capsys):
    folder = data_dir / "chemistry_fp2"
    if not (folder / "X_fp2.npz").exists():
        pytest.skip(f"no X_fp2.npz in {folder}")
    assert command.main(["prepare", "chemistry_fp2", str(folder)]) == 0
    assert capsys.readouterr().out.count("as in the committed results") == 2


def test_compounds_of_five_targets(home, download):
    target = np.repeat([0, *range(1, 81)], [2000, *[60] * 80])
    X = sparse.csr_array(np.arange(target.size)[:, None] % 2)
    sparse.save_npz(download / "X_fp2.npz", X)
    np.save(download / "target.npy", target)
    sources.prepare("chemistry_fp2", download)
    X, drawn = load_fingerprint_subset()
    assert X.shape == (2142, 1)
    values, counts = np.unique(drawn, return_counts=True)
    assert values[0] == 0
    np.testing.assert_array_equal(counts, [1892, 50, 50, 50, 50, 50])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prepare"], "prepare takes the name of a data set and the folder"),
        (["prepare", "mnist"], "prepare takes the name of a data set and the folder"),
        (["prepare", "minst", "."], "no data set minst; choose from adbench, "),
    ],
)
def test_a_wrong_call_to_prepare(arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err


def test_what_cannot_be_prepared_is_said(home, download, capsys):
    assert command.main(["prepare", "letor_sample", str(download)]) == 1
    assert f"no file in {download} ends like rank.train" in capsys.readouterr().err
    for folder in ("a", "b"):
        (download / folder).mkdir()
        (download / folder / "rank.train").write_text("")
    assert command.main(["prepare", "letor_sample", str(download)]) == 1
    assert "2 files, such as" in capsys.readouterr().err
    assert command.main(["prepare", "acl_coauthor", str(download)]) == 1
    assert "No command makes paper_authors.csv.gz of acl_coauthor" in capsys.readouterr().err


def test_the_list_marks_what_is_there(home, capsys):
    command.main(["--list"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["pauc_retrieval"].endswith("[MISSING ohsumed, letor_sample]")
    assert lines["letters"].endswith("[needs no data]")
    assert "[runs without mnist, " in lines["aum_figure5"]
    for part in ("train", "test"):
        for end in (".gz", ".query"):
            path = home / "letor_sample" / f"rank.{part}{end}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
    command.main(["--list"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["pauc_retrieval"].endswith("[has letor_sample; MISSING ohsumed]")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["pauc_wisconsin", "letters", "aum_figure5"])
def test_one_experiment_of_each_paper_runs_without_data(name, home, tmp_path, capsys):
    results = tmp_path / "results"
    assert command.main([name, "--tiny", "--output", str(results)]) == 0
    assert (results / f"{name}.md").exists()
