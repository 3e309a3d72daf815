import subprocess
import sys

from aucuba.demo import main


def test_the_demo_compares_and_writes_the_reports(tmp_path, capsys):
    report, explorer = main(tmp_path / "new folder")
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    (ours,) = [row for row in rows if row[:1] == ["PartialAUCClassifierCV"]]
    (other,) = [row for row in rows if row[:2] == ["logistic", "regression"]]
    assert 0.5 < float(ours[1]) < 1
    assert 0.5 < float(other[2]) < 1
    assert str(report) in printed
    assert str(explorer) in printed
    assert 'id="ls-slider"' in explorer.read_text()
    for page in (report, explorer):
        assert page.stat().st_size < 2_000_000


def test_the_demo_needs_the_base_install_only():
    code = (
        "import sys\n"
        "for name in ('matplotlib', 'pandas', 'typer', 'rich', 'skops', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "import aucuba.demo, aucuba.report"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
