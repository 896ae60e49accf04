"""Streams that provoke ties: small alphabets, repeats, constants, and lengths around every boundary."""

from __future__ import annotations

from hypothesis import strategies as st

from chaffinch.recipe import FIXED_SIZE, SCHEMES, TIES, WINDOWED, Recipe

ALPHABETS = (1, 2, 3, 4, 26, 256, 70_000, 2**32)

alphabets = st.sampled_from(ALPHABETS)


@st.composite
def streams(draw: st.DrawFn, max_size: int = 160) -> list[int]:
    size = draw(alphabets)
    symbols = draw(st.lists(st.integers(0, size - 1), max_size=max_size))
    period = draw(st.sampled_from((0, 0, 1, 2, 3, 7)))
    return [symbols[i % period % len(symbols)] for i in range(len(symbols))] if period else symbols


@st.composite
def recipes(draw: st.DrawFn, schemes: tuple[str, ...] = SCHEMES, max_k: int = 14, max_w: int = 20) -> Recipe:
    scheme = draw(st.sampled_from(schemes))
    return Recipe(
        "bytes",
        k=draw(st.integers(1, max_k)),
        w=draw(st.integers(1, max_w)),
        scheme=scheme,
        skip=draw(st.sampled_from((0, 1, 7, 2**32 - 1))) if scheme in FIXED_SIZE else 0,
        ties=draw(st.sampled_from(TIES)),
        seed=draw(st.sampled_from((0, 1, 2**64 - 1))),
    )


windowed = recipes(WINDOWED)
guaranteed = recipes((*WINDOWED, "safe-mod-p", "all"))
