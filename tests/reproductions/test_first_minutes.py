"""The measurement of the first five minutes types what the README shows."""

from pathlib import Path

from benchmarks import first_minutes


def test_the_example_is_that_of_the_readme():
    code = first_minutes.readme_example()
    compile(code, "README.md", "exec")
    assert "PartialAUCClassifierCV((0.0, 0.01), random_state=0)" in code
    assert "FixedFPRClassifier" not in code
    assert ">>>" not in code


def test_steps_lead_from_a_clone_to_a_report():
    reached = [name for name, _, _ in first_minutes.steps(Path("clone"))]
    wanted = ["clone", "installed", "first picture", "first trained model", "first report"]
    assert [name for name in reached if name in wanted] == wanted
    table = first_minutes.TABLE.read_text(encoding="utf-8")
    assert all(f"| {name} |" in table for name in reached)
