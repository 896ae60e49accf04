"""Generate programs as beginners write them: any number of authors for a task, each with their own habits.

An author solves each part of a task in one of several ways, calls things by other names, counts with `for` or
`while`, compares left to right or right to left, declares at the top or where it is needed, and divides the
whole differently. So two of them have something in common, as students' programs do, but neither is a copy.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench import array_solutions, number_solutions
from bench.dialects import Layout, bounds, layout, written

SOLUTIONS = {
    part: [way.strip() for way in ways.split("---")]
    for part, ways in (array_solutions.SOLUTIONS | number_solutions.SOLUTIONS).items()
}
TASKS = {
    "statistics": ("fill", "show", "sort", "largest", "mean", "mode"),
    "numbers": ("prime", "divisor", "digits", "power", "fibonacci"),
    "searching": ("fill", "sort", "search", "different", "show"),
    "properties": ("fill", "largest", "prime", "digits", "divisor", "show"),
    "sets": ("fill", "different", "mode", "divisor", "mean", "show"),
    "sequences": ("fibonacci", "power", "prime", "fill", "largest", "different"),
}
BUILT_IN = {"read", "put", "print", "array", "range", "main", "int", "bool", "list"}

_ARGUMENTS = {
    "prime": "x",
    "digits": "x",
    "divisor": "x, y",
    "power": "x, y",
    "fibonacci": "x",
    "search": "a, n, x",
}
_STATEMENTS = {"fill", "show", "sort"}
_OTHER_NAMES = {
    "a": "a arr numbers data values v nums tab", "n": "n size count length num len_ total_count",
    "i": "i i i k idx index", "j": "j j k m jj", "x": "x number num val value", "y": "y b other second exp",
    "temp": "temp tmp t swap aux", "total": "total sum s acc", "result": "result res r ret out answer",
    "best": "best max_ m biggest top", "count": "count c cnt counter howMany", "where": "where pos p index_",
}  # fmt: skip
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """A program: what it does and its layout."""

    tree: ast.Module
    look: Layout

    def text(self, language: str) -> str:
        return written(self.tree, language, self.look)


def authors(task: str, number: int, seed: int) -> list[Program]:
    """Return programs that were written independently."""
    rng = random.Random(f"{task} {seed}")
    ways = {part: _spread(SOLUTIONS[part], number, rng) for part in TASKS[task]}
    return [_author({part: chosen[i] for part, chosen in ways.items()}, rng) for i in range(number)]


def _spread(ways: list[str], number: int, rng: random.Random) -> list[str]:
    """Return every way equally often, in random order."""
    chosen = (ways * (number // len(ways) + 1))[:number]
    rng.shuffle(chosen)
    return chosen


def _author(ways: Mapping[str, str], rng: random.Random) -> Program:
    main = rng.choice([_straight, _menu, _divided])(list(ways), rng)
    functions = [*ways.values()]
    rng.shuffle(functions)
    tree = ast.parse("\n".join([*functions, main]))
    tree = _Habits(rng).visit(tree)
    return Program(renamed(tree, lambda name: _other_name(name, rng)), layout(rng))


def _used(part: str, rng: random.Random) -> str:
    """Return one or two statements that use the solution of a part."""
    call = f"{part}({_ARGUMENTS.get(part, 'a, n')})"
    if part in _STATEMENTS:
        return call
    label = rng.choice([part, f"the {part} is", f"{part} =", f"Result of {part}:"])
    if part == "prime":
        yes, no = rng.choice([("prime", "not prime"), ("yes", "no"), ("it is", "it is not")])
        return f"if {call}:\n    print('{yes}')\nelse:\n    print('{no}')"
    if rng.random() < 0.5:
        return f"print('{label}', {call})"
    return f"{part}_value: int = {call}\nprint('{label}', {part}_value)"


def _start(rng: random.Random) -> list[str]:
    lines = ["n: int = read()", f"a: list[int] = array({rng.choice([100, 1000, 1001])})", "x: int = read()"]
    lines.append("y: int = read()")
    if rng.random() < 0.5:
        lines.insert(0, f"put('{rng.choice(['How many? ', 'n = ', 'Please enter n: '])}')")
    if rng.random() < 0.4:
        lines.append("if n < 1:\n    print('too few')\n    return")
    return lines


def _indented(lines: list[str], depth: int) -> str:
    return "\n".join("    " * depth + line for text in lines for line in text.split("\n"))


def _straight(parts: list[str], rng: random.Random) -> str:
    return "def main() -> None:\n" + _indented([*_start(rng), *(_used(part, rng) for part in parts)], 1)


def _menu(parts: list[str], rng: random.Random) -> str:
    """Write a menu that runs until the user ends it."""
    lines = [*_start(rng), "choice: int = 1", "while choice != 0:"]
    lines += [f"    print('{i}', '{part}')" for i, part in enumerate(parts, 1)]
    lines.append("    choice = read()")
    for i, part in enumerate(parts, 1):
        lines += [f"    if choice == {i}:", _indented([_used(part, rng)], 2)]
    return "def main() -> None:\n" + _indented(lines, 1)


def _divided(parts: list[str], rng: random.Random) -> str:
    """Split the work into functions."""
    cut = len(parts) // 2
    text = ""
    for name, some in (("start", parts[:cut]), ("finish", parts[cut:])):
        text += f"def {name}(a: list[int], n: int, x: int, y: int) -> None:\n"
        text += _indented([f"print('{name}')", *(_used(part, rng) for part in some)], 1) + "\n"
    return (
        text + "def main() -> None:\n" + _indented([*_start(rng), "start(a, n, x, y)", "finish(a, n, x, y)"], 1)
    )


class _Habits(ast.NodeTransformer):
    """The habits of one author, who mostly does the same thing in the same way."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._whiles, self._flips, self._names_results, self._plain_additions, self._declares_first = (
            rng.choice([0, 0.1, 0.9]) for _ in range(5)
        )

    def _does(self, probability: float) -> bool:
        return self._rng.random() < probability

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if self._does(self._declares_first):
            first = _Declarations()
            first.visit(node)
            node.body[:0] = first.declarations
        return node

    def visit_For(self, node: ast.For) -> ast.For | list[ast.stmt]:
        self.generic_visit(node)
        return as_while(node) if self._does(self._whiles) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not self._does(self._flips):
            return node
        return ast.Compare(node.comparators[0], [_FLIPPED[type(node.ops[0])]()], [node.left])

    def visit_Return(self, node: ast.Return) -> ast.Return | list[ast.stmt]:
        if not isinstance(node.value, ast.BinOp | ast.Call) or not self._does(self._names_results):
            return node
        name = ast.Name("result")
        return [ast.AnnAssign(name, ast.Name("int"), node.value, 1), ast.Return(name)]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not self._does(self._plain_additions):
            return node
        return ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value))


class _Declarations(ast.NodeTransformer):
    """Turns declarations of single values into assignments, and collects them for the top of the function."""

    def __init__(self) -> None:
        self.declarations: list[ast.stmt] = []

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None or isinstance(node.annotation, ast.Subscript):
            return node
        self.declarations.append(ast.AnnAssign(node.target, node.annotation, None, 1))
        return ast.Assign([node.target], node.value)


def as_while(loop: ast.For) -> list[ast.stmt]:
    """Return a counting loop as a while loop."""
    start, stop, down = bounds(loop)
    name, test, change = ast.unparse(loop.target), *((">", "-=") if down else ("<", "+="))
    declared, counted = ast.parse(
        f"{name}: int = {ast.unparse(start)}\nwhile {name} {test} {ast.unparse(stop)}: {name} {change} 1"
    ).body
    assert isinstance(counted, ast.While)
    counted.body[:0] = loop.body
    return [declared, counted]


def identifiers(tree: ast.AST) -> list[str]:
    """Return every name that the author chose."""
    named = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    named += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    named += [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sorted(set(named) - BUILT_IN)


def renamed(tree: ast.Module, chosen: Callable[[str], str]) -> ast.Module:
    """Return a copy with other names, all different."""
    names: dict[str, str] = {}
    for name in identifiers(tree):
        wanted = chosen(name)
        while wanted in names.values() or wanted in BUILT_IN:
            wanted += "1"
        names[name] = wanted
    copy = ast.parse(ast.unparse(ast.fix_missing_locations(tree)))
    for node in ast.walk(copy):
        match node:
            case ast.Name():
                node.id = names.get(node.id, node.id)
            case ast.arg():
                node.arg = names.get(node.arg, node.arg)
            case ast.FunctionDef():
                node.name = names.get(node.name, node.name)
    return copy


def _other_name(name: str, rng: random.Random) -> str:
    if name in _OTHER_NAMES:
        return rng.choice(_OTHER_NAMES[name].split())
    short = name[0] + "".join(c for c in name[1:] if c not in "aeiou_")
    words = ("get", "find", "my", "the", "calc", "do")
    return rng.choice(
        [name, name, short, name[:3], f"{rng.choice(words)}_{name}", f"{rng.choice(words)}{name.title()}"]
    )
