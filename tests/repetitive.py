"""Write files that repeat themselves: a few statements or rows, in ever new order or in none."""

from __future__ import annotations

import random
from collections.abc import Callable

SHAPES: tuple[Callable[..., str], ...] = (
    "{} = {} + 1;".format,
    "if ({} < {}) {} = {};".format,
    "print({});".format,
    "while ({} > {}) {}--;".format,
    "{} = f({}, {});".format,
)


def program(seed: int, size: int = 5000) -> str:
    """Return a program of about this many bytes, made of five shapes of statements in random order."""
    rng = random.Random(f"repetitive {seed}")
    lines = ["int main() {"]
    while size > 0:
        lines.append(rng.choice(SHAPES)(*rng.choices("abcdefghxyz", k=4)))
        size -= len(lines[-1]) + 1
    return "\n".join([*lines, "}", ""])


def numbers(seed: int, count: int) -> str:
    """Return an array of numbers, ten in a row."""
    rng = random.Random(f"numbers {seed}")
    rows = [", ".join(str(rng.randrange(1000)) for _ in range(10)) for _ in range(count // 10)]
    return "int table[] = {\n" + ",\n".join(rows) + "\n};\n"


def small_tables(seed: int, count: int) -> str:
    """Return many small arrays with a function after each, and a large array at the end."""
    functions = (f"void f{n}(int x) {{ while (x > {n}) x -= g(x, {seed}); }}\n" for n in range(count))
    small = "".join(numbers(seed * count + n, 30) + f for n, f in enumerate(functions))
    return small + numbers(seed, 20 * count)


def page(seed: int, rows: int) -> str:
    """Return a page with a table of a few different rows."""
    rng = random.Random(f"page {seed}")
    cells = (f"<tr><td>name {rng.randrange(3)}</td><td>price {rng.randrange(3)}</td></tr>" for _ in range(rows))
    return f"<html><body><table>\n{chr(10).join(cells)}\n</table></body></html>"


KINDS: dict[str, Callable[[int], str]] = {
    "five_shapes.c": program,
    "one_statement.c": lambda seed: "a = a + 1;\n" * (2000 + seed),
    "no_lines.c": lambda seed: "a=1;" * (20_000 + seed),
    "numbers.c": lambda seed: numbers(seed, 10_000),
    "tables.c": lambda seed: small_tables(seed, 60),
    "sentence.txt": lambda seed: "The same sentence stands here again and again. " * (1000 + seed),
    "digits.txt": lambda seed: format(random.Random(seed).getrandbits(20_000), "b"),
    "page.html": lambda seed: page(seed, 600),
}
"""Documents by the names of files; the number makes a document its own."""
