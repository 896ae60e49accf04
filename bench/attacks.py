"""Disguise copied programs: compare each with its disguised copies, and authors with each other.

One comparison holds all that was written for a task in a language: the authors' programs and every disguised
copy of each. AUC is how probably a copy and its original have a higher figure than two authors have.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

from bench import table
from bench.dialects import LANGUAGES, layout
from bench.measures import auc, everything, names, weights
from bench.programs import TASKS, Program, as_while, authors, identifiers, renamed
from bench.table import Row
from chaffinch import File

AUTHORS = 8
ONE, ALL = 0.99, 0.97
"""The AUC that a single attack, and all attacks at once, must reach."""

EVERYWHERE = "dead code before every statement"
"""Separates every two statements, so it has no bound. It shows where the limit is."""

_DEAD = 0.3  # share of the statements that get dead code before them
_DEAD_CODE = (
    "{0}: int = {1}",
    "{0}: int = {1} * {2}\nif {0} < 0:\n    print('never', {0})",
    "for {0} in range({1}):\n    if {0} == {2} + {1}:\n        break",
    "{0}: int = {1}\nwhile {0} > {1}:\n    {0} -= 1",
    "if {1} > {1} + {2}:\n    print('impossible')",
)
_FRESH = ("alpha", "beta", "gamma", "delta", "omega", "kappa", "zeta", "theta")
_PHRASES = ("please wait", "all good", "ready", "input", "value of it", "end of part", "there you are")

Attack = Callable[[Program, Program, random.Random], Program]
"""Takes the program, another author's program for the same task, and a random generator."""


def dead_code(program: Program, other: Program, rng: random.Random, part: float = _DEAD) -> Program:
    """Insert statements that change nothing."""

    def more(block: list[ast.stmt]) -> list[ast.stmt]:
        padded: list[ast.stmt] = []
        for statement in block:
            if rng.random() < part:
                name = f"{rng.choice(_FRESH)}{rng.randrange(1000)}"
                text = rng.choice(_DEAD_CODE).format(name, rng.randrange(2, 99), rng.randrange(2, 99))
                padded += ast.parse(text).body
            padded.append(statement)
        return padded

    return _blocks(program, more)


def rename(program: Program, other: Program, rng: random.Random) -> Program:
    """Replace every name by one that nobody else has."""
    fresh = {
        name: f"{rng.choice(_FRESH)}_{rng.choice(_FRESH)}{i}"
        for i, name in enumerate(identifiers(program.tree))
    }
    return replace(program, tree=renamed(program.tree, fresh.__getitem__))


def reorder_functions(program: Program, other: Program, rng: random.Random) -> Program:
    return replace(program, tree=ast.Module(rng.sample(program.tree.body, len(program.tree.body)), []))


def reorder_statements(program: Program, other: Program, rng: random.Random) -> Program:
    """Swap neighbouring statements that do not depend on each other."""

    def moved(block: list[ast.stmt]) -> list[ast.stmt]:
        block = list(block)
        for _ in range(3):
            for i in rng.sample(range(len(block) - 1), max(len(block) - 1, 0)):
                if _independent(block[i], block[i + 1]):
                    block[i], block[i + 1] = block[i + 1], block[i]
        return block

    return _blocks(program, moved)


def reformat(program: Program, other: Program, rng: random.Random) -> Program:
    """Change spaces, braces and comments."""
    look = layout(rng)
    different = replace(look, own_line=not program.look.own_line, tight=not program.look.tight, comments=0.3)
    return replace(program, look=different)


def change_loops(program: Program, other: Program, rng: random.Random) -> Program:
    """Rewrite loops with a counter or a break, replace strings, and write numbers as sums."""
    return replace(program, tree=_Loops(rng).visit(copy.deepcopy(program.tree)))


def merge(program: Program, other: Program, rng: random.Random) -> Program:
    """Join all functions of both programs; one main calls the other."""
    theirs = renamed(other.tree, lambda name: f"{name}_2")
    ours = copy.deepcopy(program.tree)
    for function in theirs.body:
        if isinstance(function, ast.FunctionDef) and function.name == "main":
            function.name = "more"
    main = next(f for f in ours.body if isinstance(f, ast.FunctionDef) and f.name == "main")
    main.body += ast.parse("more()").body
    both = [*ours.body, *theirs.body]
    return replace(program, tree=ast.Module(rng.sample(both, len(both)), []))


def all_at_once(program: Program, other: Program, rng: random.Random) -> Program:
    for attack in (merge, change_loops, reorder_statements, dead_code, reorder_functions, rename, reformat):
        program = attack(program, other, rng)
    return program


ATTACKS: dict[str, Attack] = {
    "dead code": dead_code,
    EVERYWHERE: partial(dead_code, part=1.0),
    "renamed": rename,
    "functions reordered": reorder_functions,
    "statements reordered": reorder_statements,
    "reformatted": reformat,
    "other loops and literals": change_loops,
    "two merged": merge,
    "all at once": all_at_once,
}


def _blocks(program: Program, changed: Callable[[list[ast.stmt]], list[ast.stmt]]) -> Program:
    """Return a copy with every block of statements changed."""
    tree = copy.deepcopy(program.tree)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.If | ast.For | ast.While):
            node.body = changed(node.body)
        if isinstance(node, ast.If):
            node.orelse = changed(node.orelse)
    return replace(program, tree=tree)


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two simple statements are independent: neither sets what the other uses or calls anything."""
    sets, has = zip(*(_sets_and_has(statement) for statement in (one, other)), strict=True)
    return None not in sets and not (sets[0] & has[1] or sets[1] & has[0])


def _sets_and_has(statement: ast.stmt) -> tuple[set[str] | None, set[str]]:
    has = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    if any(isinstance(node, ast.Call) and ast.unparse(node.func) != "array" for node in ast.walk(statement)):
        return None, has
    match statement:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            base = target.value if isinstance(target, ast.Subscript) else target
            return {ast.unparse(base)}, has
    return None, has


class _Loops(ast.NodeTransformer):
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        return as_while(node)

    def visit_While(self, node: ast.While) -> ast.While:
        """Rewrite "while the test holds" as an endless loop with a break."""
        self.generic_visit(node)
        if self._rng.random() < 0.5:
            return node
        stop = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        return ast.While(ast.Constant(True), [stop, *node.body], [])

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return ast.Constant(self._rng.choice(_PHRASES))
        if isinstance(node.value, int) and node.value > 9 and self._rng.random() < 0.5:
            part = self._rng.randrange(1, node.value)
            return ast.BinOp(ast.Constant(part), ast.Add(), ast.Constant(node.value - part))
        return node


def written(task: str, language: str) -> tuple[list[File], dict[frozenset[str], str]]:
    """Return all programs, and the attack behind each pair that is a copy."""
    originals = authors(task, AUTHORS, 0)
    documents, copies = [], {}
    extension = LANGUAGES[language]
    for i, program in enumerate(originals):
        documents.append(File(f"{i}{extension}", program.text(language).encode()))
        victim = originals[(i + 1) % AUTHORS]
        for attack, change in ATTACKS.items():
            rng = random.Random(f"{task} {language} {i} {attack}")
            name = f"{i} {attack}{extension}"
            documents.append(File(name, change(program, victim, rng).text(language).encode()))
            copies[frozenset((f"{i}{extension}", name))] = attack
    return documents, copies


Figures = dict[str, list[tuple[float, float]]]
"""The score and the ranking weight of pairs, by attack. Unrelated pairs are under the empty name."""


def measured(task: str, language: str) -> Figures:
    documents, copies = written(task, language)
    listed = everything(documents).pairs
    ranked = weights(listed)
    pairs = {names(pair): (pair.score, ranked[names(pair)]) for pair in listed}
    figures: Figures = {"": []}
    for pair, attack in copies.items():
        figures.setdefault(attack, []).append(pairs.get(pair, (0.0, 0.0)))
    unrelated = combinations((f"{i}{LANGUAGES[language]}" for i in range(AUTHORS)), 2)
    figures[""] += [pairs.get(frozenset(pair), (0.0, 0.0)) for pair in unrelated]
    return figures


def _by_language() -> dict[str, Figures]:
    by_language: dict[str, Figures] = {language: {} for language in LANGUAGES}
    for language, figures in by_language.items():
        for task in TASKS:
            for attack, values in measured(task, language).items():
                figures.setdefault(attack, []).extend(values)
    return by_language


def all_measured() -> Figures:
    """Return the figures of all languages together."""
    pooled: Figures = {}
    for figures in _by_language().values():
        for attack, values in figures.items():
            pooled.setdefault(attack, []).extend(values)
    return pooled


def rows() -> Iterator[Row]:
    by_language = _by_language()
    for attack in ATTACKS:
        for i, figure in enumerate(("score", "rank")):
            each = {language: _auc(figures, attack, i) for language, figures in by_language.items()}
            worst = min(each, key=each.__getitem__)
            pooled = {kind: [v for f in by_language.values() for v in f[kind]] for kind in ("", attack)}
            what = f"AUC by {figure}, {attack} (worst: {worst}, {each[worst]:.3f})"
            bound = {"all at once": ALL, EVERYWHERE: None}.get(attack, ONE)
            yield Row(what, _auc(pooled, attack, i), least=bound if figure == "score" else None)


def _auc(figures: Figures, attack: str, which: int) -> float:
    return auc([value[which] for value in figures[attack]], [value[which] for value in figures[""]])


if __name__ == "__main__":
    print(table.plain(list(rows())))
