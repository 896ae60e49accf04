"""Time another lexer: `lexer.py NAME LANGUAGE FILE...` prints the seconds and the tokens of all files, as JSON.

Runs in the environment of that lexer, so it imports nothing of this project.
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
        text = data.decode("latin-1")  # so that positions are byte offsets
        return [
            # Keywords and punctuation by their text, as in our lexers.
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
        leaves = []
        while True:
            if not cursor.goto_first_child():
                node = cursor.node
                if node.type != "comment":
                    leaves.append((node.type, node.start_byte, node.end_byte))
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        return leaves

    return tokens


def main() -> None:
    name, language, *files = sys.argv[1:]
    contents = [Path(file).read_bytes() for file in files]
    tokens = {"pygments": pygments, "tree-sitter": tree_sitter}[name](language)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        lexed = [tokens(data) for data in contents]
        best = min(best, time.perf_counter() - start)
    kinds = [[crc32(kind.encode()) for kind, _, _ in file] for file in lexed]
    starts = [[start for _, start, _ in file] for file in lexed]
    ends = [[end for _, _, end in file] for file in lexed]
    print(json.dumps({"seconds": best, "kinds": kinds, "starts": starts, "ends": ends}))


if __name__ == "__main__":
    main()
