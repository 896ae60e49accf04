"""Fields of JSON bodies that several routes share. None takes control characters, which no database keeps."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

_PRINTABLE = r"^[^\x00-\x1f\x7f]*$"

Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=_PRINTABLE)
]
Note = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
Password = Annotated[str, Field(max_length=1000, json_schema_extra={"format": "password"})]
Days = Annotated[int, Field(ge=1, le=3660)]


class Body(BaseModel):
    """The body of a request. Unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid")
