"""The house rules that can be counted: rooms, sizes, mirrors, names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "extender"
MODULES = sorted(SOURCE.rglob("*.py"))
ROOMS = sorted(
    {path for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    | {path for path in SOURCE.glob("*.py") if not path.stem.startswith("__")}
)

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 40
SENTENCE_LENGTH = 40

# Written in two halves, so that this file does not break its own rule.
LATER = re.compile("TO" + r"DO(?!\(#\d+\))")
ELSEWHERE = "../" + "shared"
DRAWERS = re.compile(r"(?:^|[_-])(?:utils?|helpers?|common)(?:$|[_-])")
NOT_OURS = {"__pycache__", "build", "dist", "vectors", "LICENSE"}
BINARY = {".png", ".gz", ".whl", ".so"}


def path_id(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree(folder: Path = ROOT) -> Iterator[Path]:
    """Every file and folder that belongs to the project."""
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") and path.name not in (".ci", ".pre-commit-config.yaml")
        if hidden or path.name in NOT_OURS or path.suffix in {".lock", ".egg-info"}:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from tree(path)


def texts() -> Iterator[tuple[Path, str]]:
    for path in tree():
        if path.is_file() and path.suffix not in BINARY:
            yield path, path.read_text(encoding="utf-8", errors="replace")


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("room", ROOMS, ids=path_id)
def test_a_room_says_what_it_is(room: Path) -> None:
    file = room / "__init__.py" if room.is_dir() else room
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""

    assert len(docstring) >= SENTENCE_LENGTH
    assert docstring.splitlines()[0].endswith((".", ":"))


@pytest.mark.parametrize("room", ROOMS, ids=path_id)
def test_a_room_has_its_paragraph(room: Path) -> None:
    assert f"\n### `{room.stem}`\n" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES, ids=path_id)
def test_a_file_fits_on_a_few_screens(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize("module", MODULES, ids=path_id)
def test_a_function_fits_on_one_screen(module: Path) -> None:
    lengths = {
        function.name: (function.end_lineno or 0) - function.lineno + 1
        for function in functions(module)
    }

    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}


# Without the fronts of rooms and files of declarations only: the tests of their users meet them.
@pytest.mark.parametrize(
    "module",
    [path for path in MODULES if not path.stem.startswith("__") and any(functions(path))],
    ids=path_id,
)
def test_what_runs_has_a_test_of_its_name(module: Path) -> None:
    mirror = ROOT / "tests" / module.relative_to(SOURCE).with_name(f"test_{module.name}")

    assert mirror.exists()


def test_work_for_later_has_an_issue() -> None:
    assert [path_id(path) for path, text in texts() if LATER.search(text)] == []


def test_nothing_reaches_outside_of_the_tree() -> None:
    assert [path_id(path) for path, text in texts() if ELSEWHERE in text] == []


def test_nothing_is_called_after_a_drawer() -> None:
    assert [path_id(path) for path in tree() if DRAWERS.search(path.stem.lower())] == []
