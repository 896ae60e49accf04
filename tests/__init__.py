"""The tests. The environment variable CHAFFINCH_CORE, a folder, makes them use the build of the core in it."""

import os
from pathlib import Path

if folder := os.environ.get("CHAFFINCH_CORE"):
    from chaffinch import _native

    (library,) = (p for p in Path(folder).glob("*chaffinch_core.*") if p.suffix in {".so", ".dylib", ".dll"})
    _native.lib = _native.ffi.dlopen(str(library))
