"""No argument makes the core read what it was not given: what does not fit is refused with a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from chaffinch._native import ffi, lib
from tests.core_calls import Call, Handle, Handles, Misshapen, Structure, other_object, right_calls

CALLS = right_calls()
ARGUMENT, DEFECT = 0, 1
LENGTHS = ("one less", "one more", "empty")
SHAPES = ("no column", "no pointer", "half as wide", "twice as wide", "not aligned", "larger than any memory")
# Numbers of 64 bits; all others have 32.
LONG = {"hashes", "bucket", "skipped", "limit", "seed"}
# How many structures a pointer points to is a promise that the core cannot check.
PROMISES = {"count", "len"}


class Change(NamedTuple):
    path: str
    what: str
    value: Any
    is_wrong: bool
    """Whether the core must refuse it whatever the other arguments are."""


def changes(path: str, value: Any) -> Iterator[Change]:
    """Yield an argument with each of its parts changed in every way, one at a time."""
    if isinstance(value, dict):
        for name, inner in value.items():
            for change in changes(f"{path}.{name}".removeprefix("."), inner):
                yield change._replace(value=value | {name: change.value})
    elif isinstance(value, Structure):
        yield Change(path, "missing", Structure(value.kind, None), True)
        rows = value.rows or []
        for i, row in enumerate(rows):
            for change in changes(f"{path}.{i}", row):
                yield change._replace(value=Structure(value.kind, [*rows[:i], change.value, *rows[i + 1 :]]))
    elif isinstance(value, Handles):
        for change in changes(path, value.all[-1]):
            yield change._replace(value=Handles([*value.all[:-1], change.value]))
    elif isinstance(value, Handle):
        yield Change(path, "missing", Handle(None), True)
        yield Change(path, "another object", other_object(value), True)
    elif isinstance(value, np.ndarray):
        yield from of_column(path, value)
    elif isinstance(value, float):
        yield Change(path, "not a number", float("nan"), True)
        yield Change(path, "negative", -1.0, True)
        yield Change(path, "infinite", float("inf"), False)
    elif isinstance(value, int):
        yield from of_number(path, value)


def of_column(path: str, array: NDArray[Any]) -> Iterator[Change]:
    for what, other in zip(LENGTHS, (array[:-1], np.append(array, array[-1:]), array[:0]), strict=True):
        yield Change(path, what, other, True)
    for what in SHAPES:
        if array.itemsize > 1 or what not in ("half as wide", "not aligned"):
            yield Change(path, what, Misshapen(array, what), True)
    if not array.size:
        return
    extremes = [np.nan, np.inf, -1] if array.dtype.kind == "f" else [np.iinfo(array.dtype).max]
    for extreme in extremes:
        for place in (0, -1, slice(None)):
            other = array.copy()
            other[place] = extreme
            yield Change(path, f"{extreme} at {place}", other, array.dtype.kind == "f")
    yield Change(path, "zeros", np.zeros_like(array), False)
    yield Change(path, "reversed", array[::-1].copy(), False)


def of_number(path: str, number: int) -> Iterator[Change]:
    leaf = path.rpartition(".")[2]
    if leaf in PROMISES:
        yield Change(path, "one less", number - 1, False)
        return
    largest = 2**64 - 1 if leaf in LONG else 2**32 - 1
    for other in sorted({0, 1, min(number + 1, largest), largest} - {number}):
        yield Change(path, str(other), other, False)


def is_refused(call: Call, change: Change) -> bool:
    is_right = change.path in call.free and change.what in LENGTHS
    is_left_out = change.path in call.optional and change.what == "no column"
    is_no_pair = change.path == "pairs" and change.what == "empty"
    return change.is_wrong and not (is_right or is_left_out or is_no_pair)


def test_every_function_of_the_core_is_called() -> None:
    exported = {name for name in dir(lib) if name.startswith("chf_")}
    assert {call.name for call in CALLS} | {"chf_free"} == exported


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_right_call_succeeds(call: Call) -> None:
    error, _, columns = call.run()
    assert error is None
    assert columns == call.run()[2]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_wrong_argument_is_refused(call: Call, capfd: pytest.CaptureFixture[str]) -> None:
    for change in changes("", call.arguments):
        error, cause, _ = Call(call.name, change.value).run()
        what = f"{change.path} {change.what}: {error}"
        assert cause != DEFECT, what
        assert error or not is_refused(call, change), what
        assert cause == ARGUMENT or call.name.startswith("chf_segment"), what
    assert capfd.readouterr() == ("", "")


def test_several_wrong_arguments_are_refused() -> None:
    for call in CALLS:
        alone = list(changes("", call.arguments))
        for change in alone[:: max(1, len(alone) // 12)]:
            others = list(changes("", change.value))
            for other in others[:: max(1, len(others) // 12)]:
                error, cause, _ = Call(call.name, other.value).run()
                assert cause != DEFECT, (call.name, change.path, change.what, other.path, other.what, error)


def test_nothing_can_be_freed() -> None:
    lib.chf_free(ffi.NULL)
