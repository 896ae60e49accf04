"""A Recipe: everything that must agree before two fingerprints can be compared."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from chaffinch.errors import BadRecipe, RecipeMismatch
from chaffinch.languages import language

# Front ends and their versions; a front end gets a new version when its symbols change. The other front ends
# are the programming languages.
FRONTS = {"text": 1, "consonants": 1, "bytes": 1, "data": 1}
DATA = "data"
"""The front end for data beside programs: the same as for text, but it says less."""
CODE = "code"
"""The front end for programs in any language: each is lexed in its own language, into shared symbols."""

# Schemes that keep the smallest gram of every window and therefore find every shared run of w + k - 1 symbols.
WINDOWED = ("open-closed", "winnow", "mod")
# Schemes that keep the same number of grams of every document, and can skip its start.
FIXED_SIZE = ("smallest", "rare")
SCHEMES = (*WINDOWED, "all", "every", "mod-p", "safe-mod-p", *FIXED_SIZE)
TIES = ("robust", "rightmost")

MAX_K = 2048
MAX_W = 65536
MAX_SKIP = 2**32 - 1
LETTERS_PER_TOKEN = 5.0
"""Letters of prose that say as much as one token of a program."""
DATA_WEIGHT = 0.1
"""How much a letter of a data file says, compared with a letter of prose."""

_FRONT_DEFAULT: Any = None
"""Stands for the default of the front end."""


def _language_front(front: object) -> str:
    """Return the front end of a language, given by its name or an alias."""
    asked, keep, rest = str(front).partition(language.KEEP_NAMES)
    if (found := language.named(asked)) is not None and not rest:
        return found + keep
    if (found := language.other(str(front))) is not None:
        return found
    names = ", ".join((*FRONTS, CODE, *language.languages()))
    hint = "" if language.has_pygments() else "; more with pip install 'chaffinch[languages]'"
    raise BadRecipe(f"unknown language {front!r}; choose one of {names}{hint}")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How fingerprints are made.

    `front` is the form that documents are compared in: "text", "consonants", "bytes" or a programming language.
    Programs are compared by their tokens, and names do not matter unless you add "+names" to the language.
    "code" stands for the programming language of each document.

    Nothing shorter than `k` symbols is reported; with the windowed schemes every shared run of `guarantee`
    symbols is found. `w` is the window in grams; for the scheme "every" it is the step, for "mod-p" the
    modulus, for "smallest" and "rare" the number of fingerprints, and "all" does not use it.
    The defaults are 25 and 26, and 12 and 9 for programs, whose symbols carry more information.
    A secret `seed` makes the choice of grams unpredictable.
    With the schemes "smallest" and "rare", the first `skip` symbols of a document (addresses, acknowledgements)
    are passed over, but never more than a tenth of it.
    """

    front: str = "text"
    k: int = _FRONT_DEFAULT
    w: int = _FRONT_DEFAULT
    scheme: str = "open-closed"
    ties: str = "robust"
    seed: int = field(default=0, repr=False)  # may be a secret
    skip: int = 0

    def __post_init__(self) -> None:
        if self.front not in (*FRONTS, CODE):
            object.__setattr__(self, "front", _language_front(self.front))
        for key, usual in zip("kw", (25, 26) if self.front in FRONTS else (12, 9), strict=True):
            if getattr(self, key) is _FRONT_DEFAULT:
                object.__setattr__(self, key, usual)
        choices = {"scheme": SCHEMES, "ties": TIES}
        for key, allowed in choices.items():
            if (name := getattr(self, key)) not in allowed:
                raise BadRecipe(f"{key} is {name!r}; choose one of {', '.join(allowed)}")
        ranges = {"k": (1, MAX_K), "w": (1, MAX_W), "seed": (0, 2**64 - 1), "skip": (0, MAX_SKIP)}
        for key, (low, high) in ranges.items():
            number = getattr(self, key)
            if type(number) is not int:
                raise BadRecipe(f"{key} is {number!r}; give a whole number")
            if not low <= number <= high:
                raise BadRecipe(f"{key} is {number}; give {low} to {high}")
        if self.skip and self.scheme not in FIXED_SIZE:
            others = " or ".join(FIXED_SIZE)
            raise BadRecipe(f"the scheme {self.scheme!r} skips nothing; leave out skip, or choose {others}")

    @property
    def version(self) -> int:
        """Return the version of the front end."""
        if self.front in FRONTS:
            return FRONTS[self.front]
        if self.front.startswith(language.OTHER):
            return language.other_version()
        if self.front == CODE:
            return language.tables_hash()
        return int(language.table(self.front.removesuffix(language.KEEP_NAMES))["version"])

    @property
    def guarantee(self) -> int | None:
        """Return t: every shared run of t symbols is found. None if the scheme guarantees nothing."""
        if self.scheme == "all":
            return self.k
        return self.w + self.k - 1 if self.scheme in (*WINDOWED, "safe-mod-p") else None

    @property
    def inner(self) -> int:
        """Return the length of the inner grams, by which the open-closed and mod orders compare grams.

        It depends on the window of this recipe, not on a wider one that a query may use: that keeps the
        fingerprints of a wider window a subset.
        """
        if self.scheme == "mod":
            least = min(3, self.k)
            return least + (self.k - least) % self.w
        return min(self.k, max(3, self.k - 2 * self.w + 1))

    @property
    def modulus(self) -> int:
        """Return p of the "mod-p" schemes; safe 0 mod p is least dense with p = w / ln w."""
        if self.scheme == "mod-p":
            return self.w
        return 1 if self.w < 3 else math.floor(self.w / math.log(self.w) + 0.5)

    def check(self, other: Recipe, name: str) -> None:
        """Raise an error if `name`, made with the recipe `other`, cannot be compared with this recipe's."""
        if self == other:
            return
        theirs, ours = str(other), str(self)
        if theirs == ours:
            raise RecipeMismatch(f"{name} was made with another seed; use its seed, or make it again")
        raise RecipeMismatch(f"{name} was made with {theirs}, this uses {ours}; make it again")

    def __str__(self) -> str:
        ties = f" {self.ties}" if self.scheme in WINDOWED else ""
        skip = f" skip={self.skip}" if self.skip else ""
        seed = " seeded" if self.seed else ""  # the seed may be a secret
        return f"{self.front}/{self.version} k={self.k} w={self.w} {self.scheme}{ties}{skip}{seed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe for JSON, with its seed, which may be a secret."""
        return asdict(self) | {"version": self.version}

    def receipt(self) -> dict[str, Any]:
        """Return the recipe as others may see it: with its guarantee, without its seed."""
        shown = self.to_dict() | {"guarantee": self.guarantee, "seeded": bool(self.seed)}
        del shown["seed"]
        return shown

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Recipe:
        """Return the recipe that `to_dict` gave; raise an error if another version of a front end made it."""
        if not isinstance(data, dict):
            raise BadRecipe(f"not a recipe: {data!r}")
        fields = dict(data)
        version = fields.pop("version", None)
        try:
            recipe = cls(**fields)
        except TypeError as error:
            raise BadRecipe(f"not a recipe: {error}") from None
        if version not in (None, recipe.version):
            raise RecipeMismatch(
                f"made with {recipe.front}/{version}, this is {recipe.front}/{recipe.version}; make it again"
            )
        return recipe


def recipe_for(front: str, k: int | None = None, w: int | None = None) -> Recipe:
    """Return how the documents of a class are compared: in more detail than an index stores."""
    usual = (18, 18) if front in FRONTS else (_FRONT_DEFAULT, _FRONT_DEFAULT)
    return Recipe(front, k=usual[0] if k is None else k, w=usual[1] if w is None else w)


def symbol_weight(front: str) -> float:
    """Return how much one symbol says, in tokens."""
    if front not in FRONTS:
        return 1.0
    return (DATA_WEIGHT if front == DATA else 1.0) / LETTERS_PER_TOKEN
