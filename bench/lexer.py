"""Times one lexer of others, run by the Python that has it: `lexer.py NAME LANGUAGE FILE...` prints as JSON the
seconds that all the files take and the kinds of their tokens, as numbers.

It stands alone, as nothing of this project is installed there.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from zlib import crc32

ROUNDS = 2
Tokens = list[tuple[str, int, int]]


def pygments(language: str) -> Callable[[bytes], Tokens]:
    lexer = import_module("pygments.lexers").get_lexer_by_name(language)
    kinds = import_module("pygments.token")
    nothing = (kinds.Whitespace, kinds.Comment)

    def tokens(data: bytes) -> Tokens:
        text = data.decode("latin-1")  # so that places are those of bytes
        return [
            # Keywords and marks by what they say, as ours are.
            (f"{kind}{value}" if kind in kinds.Keyword or len(value) == 1 else str(kind), at, at + len(value))
            for at, kind, value in lexer.get_tokens_unprocessed(text)
            if value.strip() and not any(kind in other for other in nothing)
        ]

    return tokens


def tree_sitter(language: str) -> Callable[[bytes], Tokens]:
    module = import_module("tree_sitter")
    grammar = import_module(f"tree_sitter_{language}")
    parser = module.Parser(module.Language(grammar.language()))

    def tokens(data: bytes) -> Tokens:
        cursor = parser.parse(data).walk()
        found = []
        while True:
            if not cursor.goto_first_child():
                node = cursor.node
                if node.type != "comment":
                    found.append((node.type, node.start_byte, node.end_byte))
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        return found

    return tokens


def main() -> None:
    name, language, *files = sys.argv[1:]
    contents = [Path(file).read_bytes() for file in files]
    tokens = {"pygments": pygments, "tree-sitter": tree_sitter}[name](language)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = [tokens(data) for data in contents]
        best = min(best, time.perf_counter() - start)
    kinds = [[crc32(kind.encode()) for kind, _, _ in file] for file in found]
    starts = [[start for _, start, _ in file] for file in found]
    ends = [[end for _, _, end in file] for file in found]
    print(json.dumps({"seconds": best, "kinds": kinds, "starts": starts, "ends": ends}))


if __name__ == "__main__":
    main()
