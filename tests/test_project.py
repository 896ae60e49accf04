"""The project follows its own rules: imports point back along the line, and the documents are true."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chaffinch
from chaffinch.cli import demo, main
from chaffinch.cli.account_commands import account
from chaffinch.cli.index_commands import index

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "chaffinch"

# From the start of the line to its end. A module may import only from those before it.
LINE = [
    "errors",
    "types",
    "languages",
    "recipe",
    "native",
    "reference",
    "read",
    "fingerprinting",
    "matching",
    "index",
    "comparison",
    "report",
    "service",
    "cli",
    "__main__",
]

# Where each library may be imported.
HOMES = {
    "click": {"cli"},
    "charset_normalizer": {"read"},
    "cffi": set[str](),
    "jinja2": {"report", "service"},
    "numpy": {"native", "read", "types", "matching", "index", "comparison", "report"},
    "pygments": set[str](),  # imported by name, where it is needed
    "psycopg": {"index", "service"},
    "fastapi": {"service"},
    "sqlalchemy": {"service"},
    "pypdfium2": {"read"},
    "zstandard": {"index"},
}


def modules() -> list[tuple[str, str, ast.Module]]:
    parsed = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in ("_native", "__init__"):
            parsed.append((parts[0], "/".join(parts), ast.parse(path.read_text())))
    return parsed


def imports(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "chaffinch":
            names |= {f"chaffinch.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize(("place", "name", "tree"), modules(), ids=lambda v: v if isinstance(v, str) else "")
def test_imports_point_back_along_the_line(place: str, name: str, tree: ast.Module) -> None:
    for imported in imports(tree):
        top, *rest = imported.split(".")
        if top == "chaffinch" and rest and rest[0] in LINE:
            assert LINE.index(rest[0]) <= LINE.index(place), f"{name} imports {imported}"
            assert place == "reference" or rest[0] != "reference", f"{name} imports the reference"
        if top in HOMES:
            assert place in HOMES[top], f"{name} imports {imported}"


def test_files_are_short() -> None:
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "core" / "src").rglob("*.rs")]:
        if "_native" not in path.parts:
            assert len(path.read_text().splitlines()) <= 400, path


def test_every_path_in_the_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = set(re.findall(r"`((?:core|src|tests|tools|bench|docs)(?:/[\w./-]+)?)`", text))
    assert len(paths) > 15
    assert [p for p in sorted(paths) if not (ROOT / p).exists()] == []


def test_every_folder_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    sources = [*PACKAGE.rglob("*.py"), *(ROOT / "core" / "src").rglob("*.rs")]
    for folder in {path.parent.relative_to(ROOT).as_posix() for path in sources if "_native" not in path.parts}:
        assert folder in text, folder


def test_no_two_source_files_have_one_name() -> None:
    for files in (PACKAGE.rglob("*.py"), (ROOT / "core" / "src").rglob("*.rs")):
        names = [p.name for p in files if "_native" not in p.parts and p.name not in ("__init__.py", "mod.rs")]
        assert sorted(names) == sorted(set(names))


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    groups = {"index": index, "account": account}
    inner = {f"{group} {name}": c for group, found in groups.items() for name, c in found.commands.items()}
    for name, command in {**main.commands, **inner}.items():
        section = text.split(f"## chaffinch {name}\n")[1].split("\n## ")[0]
        for option in (o for p in command.params for o in p.opts if o.startswith("-")):
            assert option in section, f"{name} {option}: run `make docs`"


def test_code_in_documents_runs(tmp_path: Path) -> None:
    demo.write(tmp_path / "chaffinch-demo")
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for code in re.findall(r"```python\n(.*?)```", document.read_text(), re.S):
            (tmp_path / "README.md").write_bytes((ROOT / "README.md").read_bytes())
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == 0, f"{document.name}: {done.stderr}"


@pytest.mark.slow
def test_shell_commands_in_the_readme_run(tmp_path: Path) -> None:
    """Run the commands that begin with chaffinch, after the demo, as a reader would."""
    run_commands_of(ROOT / "README.md", tmp_path)


@pytest.mark.slow
def test_shell_commands_for_an_index_run(tmp_path: Path) -> None:
    run_commands_of(ROOT / "docs" / "searching.md", tmp_path)


def run_commands_of(document: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes((ROOT / "README.md").read_bytes())
    demo_command = [sys.executable, "-m", "chaffinch", "demo", "--no-open"]
    assert subprocess.run(demo_command, capture_output=True, cwd=tmp_path).returncode == 0
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", document.read_text(), re.S))
    commands = re.findall(r"^chaffinch (.*?)(?: +#.*)?$", blocks, re.M)
    assert commands
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "chaffinch", *command.split()], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_package_docstring_is_true() -> None:
    assert doctest.testmod(chaffinch).failed == 0
    assert doctest.testmod(chaffinch).attempted > 0


def test_public_names_are_all_there() -> None:
    for name in chaffinch.__all__:
        assert getattr(chaffinch, name) is not None
    assert set(chaffinch.__all__) <= set(dir(chaffinch))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        chaffinch.nothing  # noqa: B018


def test_import_does_not_load_numpy() -> None:
    program = "import sys, chaffinch; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_the_version_is_the_same_everywhere() -> None:
    for path, pattern in (("pyproject.toml", r'^version = "(.*)"'), ("core/Cargo.toml", r'^version = "(.*)"')):
        match = re.search(pattern, (ROOT / path).read_text(), re.M)
        assert match
        assert match[1] == chaffinch.__version__


def test_the_folding_table_is_the_one_its_script_makes() -> None:
    """Only the Unicode version that made the table can check it."""
    table = (PACKAGE / "folding.txt").read_text("ascii")
    unicodedata2 = pytest.importorskip("unicodedata2")
    if f"Unicode {unicodedata2.unidata_version}." not in table:
        return  # made with another version; the table stays frozen
    sys.path.insert(0, str(ROOT))
    from tools import make_folding

    assert "\n".join(make_folding.lines()) + "\n" == table
