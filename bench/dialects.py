"""Translate a program in a small subset of Python to C, C++, Java, JavaScript or Python, in a given layout."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

LANGUAGES = {"c": ".c", "cc": ".cpp", "java": ".java", "javascript": ".js", "python": ".py"}

_HEADS = {
    "c": "#include <stdio.h>\n#include <stdlib.h>\n#include <stdbool.h>",
    "cc": "#include <iostream>\n#include <vector>\nusing namespace std;",
    "java": "import java.util.Scanner;",
    "javascript": 'const prompt = require("prompt-sync")();',
}
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.Eq: "==", ast.NotEq: "!=",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.And: "&&", ast.Or: "||",
}  # fmt: skip
_WORDS = (
    "first",
    "then",
    "check",
    "the",
    "numbers",
    "loop over",
    "all",
    "keep",
    "result",
    "next",
    "value",
    "todo",
)

Line = tuple[int, str]
"""Its depth and its text. A block begins with a line that ends in a brace."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a program, which does not change its tokens."""

    indent: str
    own_line: bool
    """Whether braces stand on lines of their own."""
    tight: bool
    """Whether operators have no spaces around them."""
    comments: float
    """Share of the lines that follow a comment."""
    blanks: float
    """Share of the lines that follow an empty line."""
    seed: int


def layout(rng: random.Random) -> Layout:
    indent = rng.choice(["    ", "  ", "\t", "   "])
    comments, blanks = rng.choice([0, 0.05, 0.15]), rng.choice([0, 0.05, 0.2])
    return Layout(indent, rng.random() < 0.5, rng.random() < 0.3, comments, blanks, rng.randrange(1 << 30))


def written(program: ast.Module, language: str, chosen: Layout) -> str:
    """Return the whole file."""
    functions = [node for node in program.body if isinstance(node, ast.FunctionDef)]
    lines = list(_python(functions) if language == "python" else _braces(functions, language))
    return "\n".join([_HEADS.get(language, ""), *_laid_out(lines, language, chosen)]).strip() + "\n"


def bounds(loop: ast.For) -> tuple[ast.expr, ast.expr, bool]:
    """Return where counting starts and stops, and whether it goes down."""
    assert isinstance(loop.iter, ast.Call)
    args = loop.iter.args
    return (ast.Constant(0), args[0], False) if len(args) == 1 else (args[0], args[1], len(args) == 3)


def _laid_out(lines: list[Line], language: str, chosen: Layout) -> Iterator[str]:
    rng = random.Random(chosen.seed)
    sign = "#" if language == "python" else "//"
    for depth, text in lines:
        before = chosen.indent * depth
        if rng.random() < chosen.comments:
            yield f"{before}{sign} {' '.join(rng.choices(_WORDS, k=rng.randint(2, 6)))}"
        if rng.random() < chosen.blanks and not text.startswith("}"):
            yield ""
        if chosen.tight:
            text = re.sub(r' ([-+*/%<>=!]=?|==|&&|\|\|) (?=[^"]*(?:"[^"]*"[^"]*)*$)', r"\1", text)
        if chosen.own_line and text.endswith(" {"):
            yield before + text.removesuffix(" {")
            text = "{"
        yield before + text
        if text == "}" and depth == (language == "java"):
            yield ""


def _python(functions: list[ast.FunctionDef]) -> Iterator[Line]:
    plain = ast.Module([_Plain().visit(ast.parse(ast.unparse(f)).body[0]) for f in functions], [])
    for line in ast.unparse(ast.fix_missing_locations(plain)).splitlines():
        text = line.lstrip()
        yield (len(line) - len(text)) // 4, text
    yield 0, "main()"


class _Plain(ast.NodeTransformer):
    """Remove types, and read and print as Python does."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        shapes = {"read": "int(input())", "array": "[0] * ({})", "put": "print({}, end='')"}
        shape = shapes.get(ast.unparse(node.func))
        if shape is None:
            return node
        return ast.parse(shape.format(", ".join(map(ast.unparse, node.args))), mode="eval").body


def _braces(functions: list[ast.FunctionDef], language: str) -> Iterator[Line]:
    writer = _Writer(language)
    depth = 1 if language == "java" else 0
    if language == "java":
        yield 0, "public class Main {"
        yield 1, "static Scanner in = new Scanner(System.in);"
    if language in ("c", "cc"):
        yield from ((0, writer.head(f) + ";") for f in _used_before(functions))
    for function in functions:
        yield from ((depth + more, text) for more, text in writer.function(function))
    if language == "java":
        yield 0, "}"
    if language == "javascript":
        yield 0, "main();"


def _used_before(functions: list[ast.FunctionDef]) -> Iterator[ast.FunctionDef]:
    """Yield the functions that an earlier function calls."""
    used: set[str] = set()
    for function in functions:
        if function.name in used:
            yield function
        used |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


class _Writer:
    """Write statements in a language with braces."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.declared: set[str] = set()

    def head(self, node: ast.FunctionDef) -> str:
        if node.name == "main":
            heads = {"java": "public static void main(String[] args)", "javascript": "function main()"}
            return heads.get(self.language, "int main()")
        shape = {"c": "int {}[]", "cc": "vector<int> &{}", "java": "int[] {}"}.get(self.language, "{}")
        plain = self.type("int") + "{}" if self.language != "javascript" else "{}"
        arrays = [ast.unparse(a.annotation or ast.Name("int")).startswith("list") for a in node.args.args]
        given = [
            (shape if array else plain).format(a.arg) for a, array in zip(node.args.args, arrays, strict=True)
        ]
        if self.language == "javascript":
            return f"function {node.name}({', '.join(given)})"
        result = ast.unparse(node.returns or ast.Name("None")).replace("None", "void")
        before = "static " if self.language == "java" else ""
        return f"{before}{self.type(result)}{node.name}({', '.join(given)})"

    def type(self, name: str) -> str:
        if self.language == "javascript":
            return "let "
        return ("boolean " if self.language == "java" else "bool ") if name == "bool" else f"{name} "

    def function(self, node: ast.FunctionDef) -> Iterator[Line]:
        self.declared = {a.arg for a in node.args.args}
        yield from self.block(self.head(node), node.body)
        if node.name == "main" and self.language in ("c", "cc"):
            yield 1, "return 0;"
        yield 0, "}"

    def block(self, head: str, body: list[ast.stmt]) -> Iterator[Line]:
        """Yield a block without its closing brace."""
        yield 0, head + " {"
        for statement in body:
            yield from ((depth + 1, text) for depth, text in self.statement(statement))

    def statement(self, node: ast.stmt) -> Iterator[Line]:
        match node:
            case ast.If():
                yield from self.block(f"if ({self.value(node.test)})", node.body)
                if node.orelse:
                    yield from self.block("} else", node.orelse)
                yield 0, "}"
            case ast.While():
                yield from self.block(f"while ({self.value(node.test)})", node.body)
                yield 0, "}"
            case ast.For():
                yield from self.block(f"for ({self.counting(node)})", node.body)
                yield 0, "}"
            case ast.AnnAssign(target=ast.Name(name)):
                yield 0, self.declaration(name, ast.unparse(node.annotation), node.value)
            case ast.Assign(targets=[target], value=ast.Call(ast.Name("read"))) if self.language in ("c", "cc"):
                into = self.value(target)
                yield 0, f'scanf("%d", &{into});' if self.language == "c" else f"cin >> {into};"
            case ast.Assign():
                yield 0, f"{self.value(node.targets[0])} = {self.value(node.value)};"
            case ast.AugAssign(value=ast.Constant(1)):
                yield 0, self.value(node.target) + ("++;" if isinstance(node.op, ast.Add) else "--;")
            case ast.AugAssign():
                yield 0, f"{self.value(node.target)} {_OPERATORS[type(node.op)]}= {self.value(node.value)};"
            case ast.Return():
                yield 0, f"return {self.value(node.value)};" if node.value else "return;"
            case ast.Expr(ast.Call(ast.Name("print" | "put" as name), args)):
                yield 0, self.printing(args, name == "print")
            case ast.Expr():
                yield 0, f"{self.value(node.value)};"
            case ast.Break() | ast.Continue():
                yield 0, f"{type(node).__name__.lower()};"

    def counting(self, loop: ast.For) -> str:
        start, stop, down = bounds(loop)
        name = self.value(loop.target)
        declared = "" if name in self.declared else self.type("int")
        test, change = (">", "--") if down else ("<", "++")
        return f"{declared}{name} = {self.value(start)}; {name} {test} {self.value(stop)}; {name}{change}"

    def declaration(self, name: str, kind: str, value: ast.expr | None) -> str:
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "array":
            shapes = {
                "c": "int *{} = calloc({}, sizeof(int));",
                "cc": "vector<int> {}({}, 0);",
                "java": "int[] {} = new int[{}];",
                "javascript": "let {} = new Array({}).fill(0);",
            }
            return shapes[self.language].format(name, self.value(value.args[0]))
        before = "" if name in self.declared else self.type(kind)
        self.declared.add(name)
        if value is None:
            return f"{before}{name};"
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "read" and self.language in ("c", "cc"):
            reading = f'scanf("%d", &{name});' if self.language == "c" else f"cin >> {name};"
            return f"{before}{name}; {reading}" if before else reading
        return f"{before}{name} = {self.value(value)};"

    def printing(self, args: list[ast.expr], ends: bool) -> str:
        values = [self.value(arg) for arg in args]
        if self.language == "c":
            words = [v[1:-1] if v.startswith('"') else "%d" for v in values]
            rest = "".join(f", {v}" for v in values if not v.startswith('"'))
            return f'printf("{" ".join(words)}{chr(92) + "n" if ends else ""}"{rest});'
        if self.language == "cc":
            return f"cout << {' << '.join(values)}{' << endl' if ends else ''};"
        if self.language == "java":
            return f"System.out.print{'ln' if ends else ''}({' + '.join(values)});"
        return f"console.log({', '.join(values)});" if ends else f"process.stdout.write(String({values[0]}));"

    def value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(str(text)):
                return f'"{text}"'
            case ast.Constant(bool(truth)):
                return str(truth).lower()
            case ast.BinOp(op=ast.FloorDiv()) if self.language == "javascript":
                return f"Math.floor({self.value(node.left)} / {self.value(node.right)})"
            case ast.BinOp():
                sides = (f"({self.value(s)})" if isinstance(s, ast.BinOp) else self.value(s)
                         for s in (node.left, node.right))  # fmt: skip
                return f" {_OPERATORS[type(node.op)]} ".join(sides)
            case ast.Compare():
                operator = _OPERATORS[type(node.ops[0])]
                if self.language == "javascript" and operator in ("==", "!="):
                    operator += "="
                return f"{self.value(node.left)} {operator} {self.value(node.comparators[0])}"
            case ast.BoolOp():
                return f" {_OPERATORS[type(node.op)]} ".join(map(self.value, node.values))
            case ast.UnaryOp(op=ast.Not()):
                inner = self.value(node.operand)
                return f"!{inner}" if isinstance(node.operand, ast.Name | ast.Call) else f"!({inner})"
            case ast.Subscript():
                return f"{self.value(node.value)}[{self.value(node.slice)}]"
            case ast.Call(ast.Name("read")):
                return "in.nextInt()" if self.language == "java" else "parseInt(prompt())"
            case ast.Call():
                return f"{self.value(node.func)}({', '.join(map(self.value, node.args))})"
        return ast.unparse(node)
