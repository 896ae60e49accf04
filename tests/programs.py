"""Programs made for the tests: random functions, written in several languages and styles."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Function:
    """Its number, its parameters, and statements: how deep they stand, their kind, target and value."""

    number: int
    parameters: int
    body: tuple[tuple[int, str, int, str], ...]


def functions(seed: int, count: int = 6) -> list[Function]:
    """Functions as one author might write them; <3> stands for the name with that number."""
    chance = random.Random(seed)

    def value(depth: int) -> str:
        if depth == 0 or chance.random() < 0.15:
            return chance.choice(
                [f"<{chance.randrange(12)}>", str(chance.randrange(100)), f'"{chance.random()}"']
            )
        a, b = value(depth - 1), value(depth - 1)
        name, called = f"<{chance.randrange(12)}>", f"<{chance.randrange(20, 30)}>"
        shapes = [f"{a} + {b}", f"{a} - {b}", f"({a} * {b})", f"{a} / {b}", f"{a} % ({b})", f"-{a}"]
        shapes += [f"{called}()", f"{called}({a})", f"{called}({a}, {b})"]
        shapes += [f"{name}[{a}]", f"{name}[{a}][{b}]", f"{name}.{called}"]
        return chance.choice(shapes)

    def condition() -> str:
        compared = f"{value(1)} {chance.choice(['<', '>', '<=', '>=', '==', '!='])} {value(1)}"
        return (
            compared
            if chance.random() < 0.6
            else f"{compared} {chance.choice(['&&', '||'])} {value(0)} > {value(0)}"
        )

    made = []
    for number in range(count):
        body: list[tuple[int, str, int, str]] = []
        depth = 0
        for _ in range(chance.randint(7, 12)):
            kind = chance.choice(["set", "set", "set", "do", "if", "while"])
            body.append(
                (depth, kind, chance.randrange(12), condition() if kind in ("if", "while") else value(2))
            )
            if kind in ("if", "while"):
                depth += 1
                body.append((depth, "set", chance.randrange(12), value(2)))
            if depth and chance.random() < 0.5:
                depth -= 1
        made.append(Function(number + 100 * seed, chance.randint(1, 3), tuple(body)))
    return made


@dataclass(frozen=True)
class Style:
    """How names look, and how far things are indented."""

    prefix: str = "v"
    indent: int = 4

    def name(self, number: int) -> str:
        return f"{self.prefix}{number}"


def _named(value: str, style: Style) -> str:
    return re.sub(r"<(\d+)>", lambda number: style.name(int(number[1])), value)


def _braces(made: list[Function], style: Style, head: str, declare: str, end: str) -> str:
    """C, Java, JavaScript and the like."""
    lines = []
    for f in made:
        name = style.name
        parameters = ", ".join(f"{declare}{name(i)}" for i in range(f.parameters))
        lines.append(head.format(name=f"{style.prefix}f{f.number}", parameters=parameters))
        depth = 0
        for at, kind, target, value in f.body:
            while depth > at:
                depth -= 1
                lines.append(" " * style.indent * (depth + 1) + "}")
            pad = " " * style.indent * (at + 1)
            written = _named(value, style)
            if kind in ("if", "while"):
                lines.append(f"{pad}{kind} ({written}) {{")
                depth = at + 1
            else:
                lines.append(f"{pad}{f'{name(target)} = ' if kind == 'set' else ''}{written}{end}")
        lines += [" " * style.indent * (n + 1) + "}" for n in reversed(range(depth))]
        lines += [" " * style.indent + f"return {name(0)}{end}", "}", ""]
    return "\n".join(lines)


def _python(made: list[Function], style: Style) -> str:
    lines = []
    for f in made:
        lines.append(f"def {style.prefix}f{f.number}({', '.join(map(style.name, range(f.parameters)))}):")
        for at, kind, target, value in f.body:
            pad = " " * style.indent * (at + 1)
            written = _named(value, style).replace("&&", "and").replace("||", "or")
            if kind in ("if", "while"):
                lines.append(f"{pad}{kind} {written}:")
            else:
                lines.append(f"{pad}{f'{style.name(target)} = ' if kind == 'set' else ''}{written}")
        lines += [" " * style.indent + f"return {style.name(0)}", "", ""]
    return "\n".join(lines)


WRITERS: dict[str, Callable[[list[Function], Style], str]] = {
    "c": lambda m, s: _braces(m, s, "int {name}({parameters}) {{", "int ", ";"),
    "java": lambda m, s: (
        "class Main {\n" + _braces(m, s, "static int {name}({parameters}) {{", "int ", ";") + "}\n"
    ),
    "js": lambda m, s: _braces(m, s, "function {name}({parameters}) {{", "", ";"),
    "go": lambda m, s: "package main\n" + _braces(m, s, "func {name}({parameters}) int {{", "", ""),
    "php": lambda m, s: (
        "<?php\n" + _braces(m, replace(s, prefix="$" + s.prefix), "function {name}({parameters}) {{", "", ";")
    ),
    "rs": lambda m, s: _braces(m, s, "fn {name}({parameters}) -> i32 {{", "mut ", ";"),
    "py": _python,
}
