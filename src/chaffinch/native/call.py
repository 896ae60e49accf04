"""How arrays go into the core and come out. What goes in is checked; what comes out frees itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chaffinch._native import ffi, lib
from chaffinch.errors import BadArgument, CoreFailure, Damaged

_ARGUMENT, _DEFECT, _DAMAGE = 0, 1, 2
"""The causes of an error. From the last on, they are the numbers of damaged segments."""


def numbers(values: ArrayLike, kind: type[np.number[Any]], name: str) -> NDArray[Any]:
    """Return a column of numbers as the core reads them, without a copy if possible.

    `name` is for the message if they are not numbers of this kind.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise BadArgument(f"{name}: give one column of numbers, not an array of {array.ndim} dimensions")
    if array.dtype == kind or not array.size:
        return np.ascontiguousarray(array, kind)
    if issubclass(kind, np.integer):
        limits = np.iinfo(kind)
        if array.dtype.kind not in "bui":
            raise BadArgument(f"{name}: give whole numbers, not {array.dtype}")
        low, high = array.min(), array.max()
        if low < limits.min or high > limits.max:
            raise BadArgument(f"{name}: give numbers from {limits.min} to {limits.max}, not {low} to {high}")
    elif array.dtype.kind not in "buif":
        raise BadArgument(f"{name}: give numbers, not {array.dtype}")
    with np.errstate(over="ignore"):  # the core refuses what is infinite
        return np.ascontiguousarray(array, kind)


def pairs_of_numbers(pairs: ArrayLike) -> NDArray[np.uint32]:
    """Return pairs, which are the rows of an array of two columns, as the core reads them."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2:
        raise BadArgument(f"pairs: give an array of two columns, not one of shape {array.shape}")
    return numbers(array.reshape(-1), np.uint32, "pairs")


def equally_long(**columns: ArrayLike) -> None:
    """Raise unless these columns have as many rows as each other."""
    lengths = {name: len(np.asarray(column)) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        given = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise BadArgument(f"give columns of equal length; there are {given}")


_COLUMN_TYPES = np.ndarray, bytes
_REFUSALS = TypeError, OverflowError, ValueError, BufferError
"""What cffi raises if it cannot turn an argument into what the core takes."""


def _refused(error: Exception) -> BadArgument:
    return BadArgument(f"the core cannot take this argument: {error}")


def _column(values: Any, buffers: list[Any]) -> tuple[Any, int, int]:
    """Return the fields of a column. It can be used for as long as its buffer is kept."""
    buffers.append(ffi.from_buffer(values))
    if isinstance(values, np.ndarray):
        return buffers[-1], values.size, values.itemsize
    return buffers[-1], len(buffers[-1]), 1


def fill(structure: Any, **fields: Any) -> list[Any]:
    """Set fields of a structure, except those that are None; arrays and bytes become columns.

    Return the buffers that must live as long.
    """
    buffers: list[Any] = []
    try:
        for name, value in fields.items():
            if value is not None:
                is_column = isinstance(value, _COLUMN_TYPES)
                setattr(structure, name, _column(value, buffers) if is_column else value)
    except _REFUSALS as error:
        raise _refused(error) from None
    return buffers


def call(function: Any, *arguments: Any, segments: Sequence[str] = ()) -> Any:
    """Call a function of the core and return its result, which frees itself. Arrays and bytes become columns.

    The function reads segments of these names.
    """
    buffers: list[Any] = []
    try:
        native = [_column(value, buffers) if isinstance(value, _COLUMN_TYPES) else value for value in arguments]
        result = function(*native)
    except _REFUSALS as error:
        raise _refused(error) from None
    owner = ffi.gc(result, lib.chf_free)
    if owner.error == ffi.NULL:
        return owner
    why = ffi.string(owner.error).decode()
    if owner.cause >= _DAMAGE:
        raise Damaged(segments[owner.cause - _DAMAGE], why)
    raise BadArgument(why) if owner.cause == _ARGUMENT else CoreFailure(why)


class _Column:
    """Native memory as NumPy reads it; arrays made from it keep the owner alive."""

    def __init__(self, native: Any, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (int(ffi.cast("uintptr_t", native.data)), True),
            "shape": (native.len,),
            "typestr": f"<u{native.width}",
            "version": 3,
        }


def columns(owner: Any) -> list[NDArray[Any]]:
    """Return the columns of a result as unsigned numbers, without a copy."""
    native = (owner.columns[i] for i in range(owner.len))
    return [np.asarray(_Column(c, owner)) if c.len else np.empty(0, f"<u{c.width}") for c in native]
