"""Join the JavaScript modules of the pages into one script, because browsers load no modules from disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_IMPORT = re.compile(r'^import \{([\w\s,]+)\} from "\./(\w+\.js)";\n', re.M)
_DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|const|let|class) (\w+)", re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) )", re.M)
_UNKNOWN = re.compile(r"^(?:import|export|var)\b.*|^(?:const|let) \W.*", re.M)
_DOC_COMMENT = re.compile(r"^ */\*\*(?:[^*]|\*(?!/))*\*/\n", re.M)


class BundleError(Exception):
    """The modules cannot be joined."""


def bundle(entries: Iterable[str], read: Callable[[str], str]) -> str:
    """Return the entry modules and everything they import, each once and after what it imports.

    `read` returns the text of a module. All modules share one scope, so a top-level name may be declared only
    once. Only named imports and exported declarations are understood. Doc comments are left out.
    """
    modules: dict[str, str] = {}
    exports: set[tuple[str, str]] = set()
    homes: dict[str, str] = {}

    def add(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            raise BundleError(f"modules import each other: {' -> '.join((*importers, name))}")
        if name in modules:
            return
        text = read(name)
        for names, imported in _IMPORT.findall(text):
            add(imported, (*importers, name))
            for wanted in re.findall(r"\w+", names):
                if (imported, wanted) not in exports:
                    raise BundleError(f"{name}: {imported} does not export {wanted}")
        for is_exported, declared in _DECLARATION.findall(text):
            if declared in homes:
                raise BundleError(f"{name}: {declared} is already declared in {homes[declared]}")
            homes[declared] = name
            if is_exported:
                exports.add((name, declared))
        text = _EXPORT.sub("", _IMPORT.sub("", _DOC_COMMENT.sub("", text)))
        if unknown := _UNKNOWN.search(text):
            raise BundleError(f"{name}: cannot be bundled: {unknown[0]}")
        modules[name] = text

    for entry in entries:
        add(entry, ())
    return f'(() => {{\n"use strict";\n{"".join(modules.values())}}})();'
