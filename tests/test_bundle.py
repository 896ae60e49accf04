"""The scripts of a report are joined in the order of their imports, and mistakes in them are errors."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from chaffinch.report.pages.bundle import BundleError, bundle
from chaffinch.report.pages.page import script

STATIC = files("chaffinch.report") / "static"
SCRIPTS = {file.name: file.read_text("utf-8") for file in STATIC.iterdir() if file.name.endswith(".js")}


def joined(entry: str = "main.js", **modules: str) -> str:
    texts = {f"{name}.js": text for name, text in modules.items()}
    return bundle([entry], texts.__getitem__)


def test_modules_come_once_and_after_what_they_import() -> None:
    text = joined(
        main='import { a } from "./a.js";\nimport {\n  b,\n  c,\n} from "./b.js";\na(b, c);\n',
        a='import { b } from "./b.js";\nexport function a() {\n  return b;\n}\n',
        b="/** @type {number} */\nexport const b = 1;\nexport let c = /** @type {number} */ (2);\n",
    )
    assert text == (
        '(() => {\n"use strict";\nconst b = 1;\nlet c = /** @type {number} */ (2);\n'
        "function a() {\n  return b;\n}\na(b, c);\n})();"
    )


@pytest.mark.parametrize(
    ("modules", "why"),
    [
        ({"main": 'import { b } from "./a.js";\n', "a": "export const a = 1;\n"}, "a.js does not export b"),
        ({"main": 'import { a } from "./a.js";\n', "a": "const a = 1;\n"}, "a.js does not export a"),
        (
            {"main": 'import { a } from "./a.js";\nexport const a = 1;\n', "a": "export const a = 1;\n"},
            "main.js: a is already declared in a.js",
        ),
        (
            {
                "main": 'import { a } from "./a.js";\nfunction b() {}\n',
                "a": "export const a = 1;\nclass b {}\n",
            },
            "main.js: b is already declared in a.js",
        ),
        (
            {"main": 'import { a } from "./a.js";\n', "a": 'import { a } from "./main.js";\n'},
            "modules import each other: main.js -> a.js -> main.js",
        ),
        ({"main": 'import * as a from "./a.js";\n', "a": ""}, "cannot be bundled: import"),
        ({"main": "export default 1;\n"}, "cannot be bundled: export default 1;"),
        ({"main": "const { a } = b;\n"}, "cannot be bundled: const { a } = b;"),
    ],
)
def test_modules_that_cannot_be_joined_are_an_error(modules: dict[str, str], why: str) -> None:
    with pytest.raises(BundleError, match=re.escape(why)):
        joined(**modules)


def test_every_script_is_used_and_so_is_every_export() -> None:
    imported = {
        (module, name)
        for text in SCRIPTS.values()
        for names, module in re.findall(r'import \{([^}]+)\} from "\./(\w+\.js)"', text)
        for name in re.findall(r"\w+", names)
    }
    exported = {
        (module, name)
        for module, text in SCRIPTS.items()
        for name in re.findall(r"^export (?:async )?(?:function|const|let|class) (\w+)", text, re.M)
    }
    assert exported == imported
    assert {module for module, _ in exported} | {"main.js", "dates.js", "case.js"} == set(SCRIPTS)


def test_scripts_can_stand_in_a_page() -> None:
    for entries in (("main.js",), ("dates.js", "main.js"), ("case.js",)):
        text = str(script(*entries))
        assert not re.search("</script|<!--", text, re.I)
        assert not re.search(r"^(?:import|export)\b", text, re.M)
        assert not re.search(r"^ */\*\*", text, re.M)


def test_every_class_of_a_style_sheet_is_used() -> None:
    """In a script or a template; classes of colours are put together from numbers."""
    pages = (files("chaffinch.report") / "templates").iterdir()
    users = "\n".join([*SCRIPTS.values(), *(page.read_text("utf-8") for page in pages)])
    words = set(re.findall(r"[\w-]+", users))
    for file in STATIC.iterdir():
        if file.name.endswith(".css"):
            rules = re.sub(r"/\*.*?\*/|\{[^{}]*\}", "", file.read_text("utf-8"), flags=re.S)
            classes = {name for name in re.findall(r"\.([a-z][\w-]*)", rules) if not re.fullmatch(r"c\d", name)}
            assert classes - words == set(), file.name
