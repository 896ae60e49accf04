"""The command `chaffinch`: turns errors into messages and exit codes."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from chaffinch import __version__
from chaffinch.cli.output import warn
from chaffinch.errors import ChaffinchError, SkipReason
from chaffinch.index.address import refuse_address, without_password
from chaffinch.types import Skipped

# NumPy starts a thread of its linear algebra for each core, which takes as long as the rest of its import. No
# command uses it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

FOUND, NOTHING, ERROR, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""
_NEVER_ERRORS = (SkipReason.EMPTY, SkipReason.TOO_SHORT, SkipReason.OWN_REPORT, SkipReason.SAME)
_SKIPPED_BY_RULE = (SkipReason.EXCLUDED, SkipReason.OTHER_LANGUAGE)

JSON = click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
STUDENT_PATTERN = click.option("--student-pattern", metavar="REGEX", help="Finds the student's name in a path.")
EXCLUDE = click.option(
    "--exclude",
    multiple=True,
    metavar="GLOB",
    help="Skip files and folders like '*.txt' or 'tests/'. Repeatable.",
)
INCLUDE = click.option(
    "--include", multiple=True, metavar="GLOB", help="Read these even if they would be skipped. Repeatable."
)
OCR = click.option(
    "--ocr", is_flag=True, help="Read scanned and unreadable pages of PDF and PostScript with Tesseract; slow."
)
K = click.option("-k", type=int, help="Shortest match, in symbols.  [25; 12 for programs]")
W = click.option("-w", type=int, help="Window: finds every shared run of W+K-1 symbols.  [26; 9 for programs]")


class _PathType(click.Path):
    """A path. An address is refused, because it may hold a password, and paths are shown and written."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        refuse_address(value)
        return super().convert(value, parameter, context)


def in_order(_context: click.Context, _parameter: click.Parameter, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sort what was typed, so that its order changes no result."""
    return tuple(sorted(values))


PATH = _PathType(path_type=Path)
PATHS = click.argument("paths", nargs=-1, required=True, type=PATH, callback=in_order)


class _ErrorsAsMessages(click.Group):
    """Prints a message and exits with code 2 where Python would print a traceback."""

    def invoke(self, context: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a terminal may not have every character
                stream.reconfigure(errors="replace")
        try:
            return super().invoke(context)
        except ChaffinchError as error:
            warn(str(error))
        except BrokenPipeError:  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return context.exit(FOUND)
        except OSError as error:
            where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
            warn(f"{where}{error.strerror or error}")
        except KeyboardInterrupt:
            warn("interrupted")
            return context.exit(INTERRUPTED)
        except MemoryError:
            warn("not enough memory; use fewer files, or leave out the largest ones")
        except click.ClickException as error:
            error.message = without_password(error.message)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # Python's own exit code is 1, which would mean that nothing was found
            last = traceback.extract_tb(error.__traceback__)[-1]
            warn(
                f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}); "
                "this is a defect, please report it"
            )
        return context.exit(ERROR)


@click.group(
    cls=_ErrorsAsMessages, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__)
def main() -> None:
    """Chaffinch finds what was copied, in texts and programs.

    Every shared run of t symbols is found, and nothing shorter than k is reported. To see what it does, run
    `chaffinch demo`.

    Exit codes: 0 if something was found, 1 if nothing was found, 2 on an error, 130 if interrupted. One
    unreadable file does not stop the rest.
    """


def exit_code(has_result: bool, skipped: Iterable[Skipped], paths: Iterable[Path], read: Iterable[str]) -> int:
    """Return the exit code of a command: an error if a path that the user named could not be read.

    An archive could not be read if something in it failed and no document of it is in `read`.
    """
    failed = [s for s in skipped if s.reason not in _NEVER_ERRORS]
    is_file = {str(path): path.is_file() for path in paths}
    if any(s.name in is_file for s in failed):
        return ERROR
    files = {path for path in is_file if is_file[path]}
    broken = files.intersection(_parents(s.name for s in failed if s.reason not in _SKIPPED_BY_RULE))
    return ERROR if broken.difference(_parents(read)) else FOUND if has_result else NOTHING


def _parents(names: Iterable[str]) -> Iterator[str]:
    """Yield the archives and folders around these names."""
    return (name[: slash.start()] for name in names for slash in re.finditer("/", name))
