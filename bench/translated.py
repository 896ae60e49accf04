"""Rewrite Python sources as if they were C, Java or JavaScript, so that every machine has code to measure on.

The result does not run, but its names, nesting, comments and strings are those of real programs.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent


@dataclass(frozen=True, slots=True)
class Style:
    """How a language writes what the others write differently."""

    function: str
    parameter: str
    variable: str
    class_: str
    nothing: str
    imported: str


STYLES = {
    "c": Style("static int {}({})", "int {}", "int {} = {};", "struct {}", "NULL", "#include <{}.h>"),
    "java": Style(
        "public static Object {}({})",
        "Object {}",
        "var {} = {};",
        "public class {}",
        "null",
        "import python.{};",
    ),
    "javascript": Style(
        "function {}({})", "{}", "const {} = {};", "class {}", "null", 'import * as module from "{}";'
    ),
}

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%", ast.LShift: "<<",
    ast.RShift: ">>", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.Eq: "==", ast.NotEq: "!=",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "==", ast.IsNot: "!=", ast.And: "&&",
    ast.Or: "||", ast.Not: "!", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip


def translated(source: str, language: str) -> str:
    """Return the source in another language, or nothing if this Python cannot parse it."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return ""
    style = STYLES[language]
    return "\n".join(line for statement in body for line in _statement(statement, style)) + "\n"


def _block(head: str, body: list[ast.stmt], style: Style) -> Iterator[str]:
    yield head + " {"
    for statement in body:
        for line in _statement(statement, style):
            yield indent(line, "    ")
    yield "}"


def _statement(node: ast.stmt, style: Style) -> Iterator[str]:
    def written(value: ast.expr | None) -> str:
        return _expression(value, style)

    match node:
        case ast.Expr(ast.Constant(str(text))):
            lines = text.replace("*/", "").strip().splitlines() or [""]
            yield f"// {lines[0]}" if len(lines) == 1 else "\n * ".join(["/**", *lines]) + "\n */"
        case ast.Import(names) | ast.ImportFrom(names=names):
            yield from (style.imported.format(alias.name) for alias in names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            parameters = ", ".join(style.parameter.format(a.arg) for a in node.args.args)
            yield ""
            yield from _block(style.function.format(node.name, parameters), node.body, style)
        case ast.ClassDef():
            yield ""
            yield from _block(style.class_.format(node.name), node.body, style)
        case ast.If():
            yield from _block(f"if ({written(node.test)})", node.body, style)
            if node.orelse:
                yield from _block("else", node.orelse, style)
        case ast.While():
            yield from _block(f"while ({written(node.test)})", node.body, style)
        case ast.For():
            i = written(node.target)
            loop = f"for (int {i} = 0; {i} < {written(node.iter)}; {i}++)"
            yield from _block(
                loop if style.nothing == "NULL" else loop.replace("int ", "var "), node.body, style
            )
        case ast.Try() | ast.With():
            yield from _block("if (true)", node.body, style)
        case ast.Assign(targets=[ast.Name(name)]):
            yield style.variable.format(name, written(node.value))
        case ast.Assign():
            yield f"{written(node.targets[0])} = {written(node.value)};"
        case ast.AugAssign():
            yield f"{written(node.target)} {_OPERATORS.get(type(node.op), '*')}= {written(node.value)};"
        case ast.Return() | ast.Raise():
            yield f"return {written(node.value if isinstance(node, ast.Return) else node.exc)};"
        case ast.Expr():
            yield f"{written(node.value)};"
        case ast.Break() | ast.Continue():
            yield f"{type(node).__name__.lower()};"


def _expression(node: ast.expr | None, style: Style) -> str:
    def written(value: ast.expr) -> str:
        return _expression(value, style)

    match node:
        case ast.Name(name):
            return name
        case ast.Constant(str(text)):
            return json.dumps(text)
        case ast.Constant(bool(value)):
            return str(value).lower()
        case ast.Constant(int(value) | float(value)):
            return str(value)
        case ast.Attribute():
            return f"{written(node.value)}.{node.attr}"
        case ast.Subscript():
            return f"{written(node.value)}[{written(node.slice)}]"
        case ast.Call():
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            return f"{written(node.func)}({', '.join(map(written, arguments))})"
        case ast.BinOp():
            return f"{written(node.left)} {_OPERATORS.get(type(node.op), '*')} {written(node.right)}"
        case ast.BoolOp():
            return f" {_OPERATORS[type(node.op)]} ".join(map(written, node.values))
        case ast.UnaryOp():
            return f"{_OPERATORS[type(node.op)]}({written(node.operand)})"
        case ast.Compare():
            operator = _OPERATORS.get(type(node.ops[0]), "==")
            return f"{written(node.left)} {operator} {written(node.comparators[0])}"
        case ast.IfExp():
            return f"{written(node.test)} ? {written(node.body)} : {written(node.orelse)}"
        case ast.Tuple() | ast.List():
            return f"make({', '.join(map(written, node.elts))})"
        case ast.JoinedStr():
            return json.dumps("".join(str(v.value) for v in node.values if isinstance(v, ast.Constant)))
    return style.nothing
