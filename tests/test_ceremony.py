"""Imports and the like are dropped, and nothing that stands beside them."""

from __future__ import annotations

import pytest

from chaffinch import Recipe, stream


def symbols(language: str, code: str) -> list[int]:
    found: list[int] = stream(code, Recipe(language)).symbols.tolist()
    return found


@pytest.mark.parametrize(
    ("language", "before", "code"),
    [
        ("python", "import os; ", "x = 1"),
        ("python", "import os; from a import b; ", "x = 1"),
        ("java", "package p; import a.b.*; import static c.D.e; ", "class A { int f() { return 1; } }"),
        ("kotlin", "import a.b; ", "val x = f(1)"),
        ("scala", "import a.{b, c}; ", "val x = f(1)"),
        ("groovy", "import a.b; ", "def x = f(1)"),
        ("swift", "import A; ", "let x = f(1)"),
        ("go", "package main; import `a;b`; ", "func main() { f() }"),
        ("cc", "using namespace std; ", "int x = 1;"),
        ("cuda", "using namespace std; ", "int x = 1;"),
        ("csharp", "using System; using static A.B; ", "class A { int x = 1; }"),
        ("objective-c", "@import A; ", "int x = 1;"),
        ("javascript", '"use strict"; ', "f(1)"),
        ("javascript", "import a from 'a;b'; ", "f(1)"),
        ("typescript", "import {a, b} from 'c'; ", "f(1)"),
        ("typescript", "import 'a;b'; export * from \"c\"; ", "f(1)"),
        ("perl", "use strict; use warnings; ", "$x = f(1);"),
        ("ruby", "require 'a'; ", "x = f(1)"),
        ("lua", 'require "a" ', "x = f(1)"),
        ("bash", ". /dev/null; ", "echo $x"),
        ("bash", ". /dev/null && ", "echo $x"),
        ("bash", "source a || ", "echo $x"),
        ("powershell", "Import-Module A; ", "$x = 1"),
        ("r", "library(a); require(b);", "x <- f(1)"),
        ("matlab", "clc; clear all, ", "x = f(1)"),
        ("julia", "using A; ", "x = f(1)"),
        ("haskell", "import A (f'); ", "x = f 1"),
        ("ocaml", "open A;; ", "let x = f 1"),
        ("ml", "open A; ", "val x = f 1"),
        ("sql", "use a; ", "select x from y"),
        ("ada", "with A; use A; ", "procedure P is begin null; end P;"),
        ("pascal", "program p; uses a, b; ", "begin f(1); end."),
        ("modula2", "IMPORT A; FROM B IMPORT C; ", "BEGIN F(1) END"),
        ("vhdl", "library ieee; use ieee.all; ", "entity e is end e;"),
        ("verilog", "import a::*; ", "module m; endmodule"),
        ("fortran", "use a; implicit none; ", "x = 1"),
        ("vb", "Imports System : ", "Dim x = 1"),
        ("elixir", "import A; ", "x = f(1)"),
        ("zig", 'const std = @import("std"); ', "pub fn f() void {}"),
        ("php", "<?php namespace A { ", "$x = f(1); }"),
        ("php", "<?php include 'a;b'; ", "$x = f(1);"),
        ("prolog", ":- use_module(library(lists)). ", "f(X) :- g(X)."),
        ("rust", "#![allow(a)] ", "fn f() {}"),
        ("lisp", "(in-package :a) ", "(defun f (x) 1)"),
        ("scheme", '(load "a)") ', "(define (f x) 1)"),
        ("clojure", "(ns a (:require [b.c])) ", "(defn f [x] 1)"),
    ],
)
def test_code_behind_an_import_on_its_line_counts(language: str, before: str, code: str) -> None:
    alone = symbols(language, f"<?php {code}" if language == "php" else code)
    assert len(alone) > 2
    assert symbols(language, before + code) == alone


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import os  # first; then\nx = 1"),
        ("java", "import a.b; // it's; so\nimport /* a; b */ c;\nint x = 1;"),
        ("cc", "#include <a> // don't; x\n#include <b>; y\nint x = 1;"),
        ("csharp", "#region It's a; b\nusing System;\nint x = 1;"),
        ("typescript", "import {\n  a,\n  b,\n} from 'c'; // d; e\nf(1)"),
        ("go", 'import (\n\t"a"\n\t"b"\n)\nimport c "d"\nx := 1'),
        ("lisp", "(in-package :a) ; it's (b\n(f 1)"),
        ("clojure", "(ns a\n  (:require [b]\n(:use c))\n(f 1)"),
        ("php", "<?php include 'a' ?> It's; a <?php\n$x = 1;"),
        ("plsql", "prompt It's; begin\nselect 1 from a;"),
        ("bash", ". ./a 2>&1 # it's; b\necho 1"),
    ],
)
def test_an_import_is_dropped_with_its_comment(language: str, code: str) -> None:
    last = code.rpartition("\n")[2]
    alone = symbols(language, f"<?php {last}" if language == "php" else last)
    assert len(alone) > 1
    assert symbols(language, code) == alone


def test_a_line_of_many_imports_takes_linear_time() -> None:
    for unit in ("import a; ", "import a /* b */ ", "import 'a' "):
        assert len(stream(unit * 200_000, Recipe("typescript"))) < 10
