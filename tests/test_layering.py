"""The direction of imports, private modules, and what lies in the repository's root."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.house_size import sizes

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "aucuba"

# From the ground up; packages on one level do not see each other.
LEVELS = [
    ("_base",),
    ("_rows", "_columns"),
    ("_roc",),
    ("metrics",),
    ("design", "risks"),
    ("solvers",),
    ("aum",),
    ("linear", "scorecard", "threshold", "structured", "changepoint", "objectives"),
    ("ensemble",),
    ("persistence", "report", "export"),
    ("cli",),
    ("__init__", "__main__", "demo", "_citation"),
]
LEVEL = {name: height for height, names in enumerate(LEVELS) for name in names}
OPEN_TO_ALL = ("_base", "_rows", "_columns", "_roc")
PUBLIC_MODULES = {"__init__", "__main__", "demo"}

IN_ROOT = {
    ".ci",
    ".github",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "RELEASING.md",
    "SECURITY.md",
    "benchmarks",
    "conftest.py",
    "docs",
    "examples",
    "hatch_build.py",
    "packaging",
    "pyproject.toml",
    "reproductions",
    "src",
    "tests",
}


def imports(tree):
    """Dotted names of all modules that a module imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def home(dotted):
    """The package of the library that a dotted name lies in, and the rest of the name."""
    parts = dotted.split(".")
    if parts[0] != "aucuba":
        return None
    if len(parts) == 1 or parts[1] not in LEVEL:
        return "__init__", parts[1:]
    return parts[1], parts[2:]


def problems(place, source):
    """What is wrong with the imports of one module, given its dotted place below aucuba."""
    own = place.split(".")[0]
    for dotted in imports(ast.parse(source)):
        found = home(dotted)
        if found is None or found[0] == own:
            continue
        package, inner = found
        if package == "__init__" and inner in ([], ["__version__"]):
            # The version is a plain string, set before anything else is imported.
            continue
        if LEVEL[package] >= LEVEL[own] and LEVEL[own] < len(LEVELS) - 1:
            yield f"aucuba.{place} imports {dotted}, which is not below it"
        private = inner and inner[0].startswith("_")
        if private and package not in OPEN_TO_ALL:
            yield f"aucuba.{place} imports {dotted}, a private module of another package"


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path


# Imports that are being turned around; the list only shrinks.
NOT_YET = {}


def test_imports_point_down_and_leave_private_modules_alone():
    found = [
        line
        for place, path in modules()
        for line in problems(place, path.read_text())
        if not any(f"{a} imports aucuba.{b}." in line for a, b in NOT_YET)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("place", "source", "complaint"),
    [
        ("metrics._x", "from aucuba.risks import Risk", "not below"),
        ("linear._x", "from aucuba.structured import StructuredRanker", "not below"),
        ("linear._x", "def f():\n    import aucuba.cli", "not below"),
        ("linear._x", "from aucuba import RegionStack", "not below"),
        ("linear._x", "from aucuba.solvers._driver import iterate", "private module"),
        ("linear._x", "from aucuba.solvers import _driver", "private module"),
    ],
)
def test_wrong_imports_are_seen(place, source, complaint):
    (line,) = problems(place, source)
    assert complaint in line


def test_right_imports_are_not():
    source = (
        "from aucuba._rows._sample import Sample\nfrom aucuba.solvers import Status\nimport numpy"
    )
    assert not list(problems("linear._x", source))


def test_modules_are_private():
    names = {path.stem for _, path in modules()} - PUBLIC_MODULES
    assert not [name for name in names if not name.startswith("_")]


# Attributes of scikit-learn that have the name of one of ours.
FOREIGN_ATTRIBUTES: set[tuple[str, str]] = set()


def private_attributes(tree):
    """Names of private attributes and methods that the classes of a module define."""
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        for node in ast.walk(owner):
            if isinstance(node, ast.FunctionDef):
                name = node.name
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
            elif is_private_access(node) and isinstance(node.ctx, ast.Store):
                name = node.attr
            else:
                continue
            if is_private(name):
                yield name


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def is_private_access(node):
    return isinstance(node, ast.Attribute) and is_private(node.attr)


def foreign_accesses(place, source, owners):
    """Private attributes of objects that only other packages define; ``owners`` says which."""
    own = place.split(".")[0]
    for node in ast.walk(ast.parse(source)):
        if not is_private_access(node) or (place, node.attr) in FOREIGN_ATTRIBUTES:
            continue
        holder, homes = ast.unparse(node.value), owners.get(node.attr, {place})
        packages = {home.split(".")[0] for home in homes}
        # A name that several packages define says nothing of the object; the module must define it.
        known = packages == {own} or place in homes
        if holder not in ("self", "cls", "super()") and not known:
            yield f"aucuba.{place} uses {holder}.{node.attr} of {sorted(packages)}"


def test_no_private_attribute_of_another_package():
    owners = {}
    for place, path in modules():
        for name in private_attributes(ast.parse(path.read_text())):
            owners.setdefault(name, set()).add(place)
    found = [
        line
        for place, path in modules()
        for line in foreign_accesses(place, path.read_text(), owners)
    ]
    assert not found, "\n".join(found)


def test_private_accesses_are_seen():
    source = "class A:\n    _b: int\n    def _c(self): self._d = 1\n    def __e(self): pass"
    names = set(private_attributes(ast.parse(source)))
    assert names == {"_b", "_c", "_d"}
    owners = {name: {"linear"} for name in names}
    (read,) = foreign_accesses("cli._x", "def f(model):\n    return model._b", owners)
    assert read == "aucuba.cli._x uses model._b of ['linear']"
    assert list(foreign_accesses("cli._x", "model._c()\nmodel.part._d = 2", owners))
    assert not list(foreign_accesses("linear._x", "model._b", owners))
    assert not list(foreign_accesses("cli._x", "self._b + model._foreign", owners))
    both = {"_b": {"linear._x", "cli._y"}}
    (read,) = foreign_accesses("cli._x", "model._b", both)
    assert read == "aucuba.cli._x uses model._b of ['cli', 'linear']"
    assert not list(foreign_accesses("linear._x", "model._b", both))


# Modules that give a transformer of scikit-learn what its fit would have learned from all blocks.
FITTED_FROM_BLOCKS = {"_columns._block_facts"}


def attributes_set_from_outside(source):
    """Fitted attributes, which end with an underscore, that are set on another object than ``self``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            fitted = node.attr.endswith("_") and not node.attr.startswith("__")
            if fitted and ast.unparse(node.value) not in ("self", "cls"):
                yield ast.unparse(node)


def test_estimators_set_their_own_attributes():
    found = {
        place: sorted(attributes_set_from_outside(path.read_text())) for place, path in modules()
    }
    assert {place for place, names in found.items() if names} == FITTED_FROM_BLOCKS
    source = "def f(model):\n    model.coef_, self.mean_, model.rest = 1, 2, 3"
    assert list(attributes_set_from_outside(source)) == ["model.coef_"]


def test_no_two_classes_share_a_name():
    places = {}
    for place, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(place)
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_no_function_is_long():
    assert sizes()["long"] == []


def test_warnings_are_issued_by_one_function():
    counted = re.compile(r"stacklevel=|warnings\.warn\(")
    assert not [place for place, path in modules() if counted.search(path.read_text())]


def test_no_option_text_outside_the_command_line():
    option = re.compile(r"--[a-z]{2,}")
    for place, path in modules():
        if place.split(".")[0] in ("cli", "demo"):
            continue
        assert not option.findall(path.read_text(encoding="utf-8")), f"aucuba.{place}"


def test_the_root_holds_only_what_belongs_there():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so it is not known which files belong to the project")
    tracked = {name.split("/")[0] for name in listed.stdout.split("\0") if name}
    assert tracked <= IN_ROOT
