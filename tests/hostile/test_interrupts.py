"""Interrupted commands, and two at once: files are whole, and the message says which were written."""

import os
import signal

import pytest

from aucuba._base._files import noting_what_is_written, written_atomically

for needed in ("pandas", "typer", "rich", "pyarrow"):
    pytest.importorskip(needed)
if not hasattr(os, "fork"):
    pytest.skip("commands are interrupted in forked children", allow_module_level=True)

from tests.hostile import interrupts  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("interrupts")
    interrupts.prepare(made)
    return made


@pytest.mark.parametrize("name", interrupts.COMMANDS)
def test_random_moments(folder, name):
    if name == "export":
        pytest.importorskip("onnx")
        pytest.importorskip("skl2onnx")
    command = interrupts.COMMANDS[name]
    calls = interrupts.warm(folder, command)
    # Each run of these takes half a second.
    for seed in range(3 if name in ("fit", "report") else 6):
        assert interrupts.interrupted(folder, command, calls, seed) == ""
    assert interrupts.at_once(folder, command, 0) == ""


class TestAccount:
    def test_a_file_counts_from_the_moment_that_it_has_its_name(self, tmp_path, monkeypatch):
        said, replace = [], os.replace

        def noted(draft, path):
            said.append(str(written))
            replace(draft, path)
            said.append(str(written))

        monkeypatch.setattr(os, "replace", noted)
        with noting_what_is_written() as written, written_atomically(tmp_path / "a") as draft:
            draft.write_text("new")
        assert said == ["nothing was written", f"{tmp_path / 'a'} was written"]

    def test_an_interrupt_when_the_draft_is_made_leaves_nothing(self, tmp_path, monkeypatch):
        make = os.open

        def interrupted(path, *rest):
            os.close(make(path, *rest))
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "open", interrupted)
        with pytest.raises(KeyboardInterrupt), written_atomically(tmp_path / "a"):
            raise AssertionError("the block does not begin")
        assert list(tmp_path.iterdir()) == []

    def test_rows_on_stdout_may_be_incomplete(self, folder, tmp_path):
        command = interrupts.Command(("predict", "m.aucuba", "t.csv", "--out", "-"), {})
        calls = interrupts.warm(folder, command)
        # Late, but before the handlers are gone.
        strike = calls[1] - 1_000, signal.SIGTERM
        log = folder / "log"
        code = interrupts._in_child(folder, command.words, log, strike=strike)
        assert code == 143
        assert log.read_text().endswith("error: Terminated; what stdout got may be incomplete.\n")


def test_one_file_for_two_exports_is_refused(folder, tmp_path, capsys):
    same = str(tmp_path / "x"), str(tmp_path / ".." / tmp_path.name / "x")
    words = ["export", str(folder / "m.aucuba"), "--onnx", same[0], "--sql", same[1]]
    assert interrupts.main(words) == 2
    assert "both name" in capsys.readouterr().err
