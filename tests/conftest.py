"""What all tests share: instruction levels, stores of an index, and that nothing is skipped where it counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from chaffinch.errors import NoIndex
from chaffinch.index.index import Index
from chaffinch.native import fingerprint as core
from tests.indexed import Make
from tests.postgres_server import postgres

__all__ = ["level", "make", "postgres", "where"]

settings.register_profile(
    "chaffinch",
    deadline=None,  # no timing in tests
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("chaffinch")


@pytest.fixture(params=core.levels())
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each instruction level this machine has, in turn."""
    monkeypatch.setenv("CHAFFINCH_LEVEL", request.param)
    return str(request.param)


@pytest.fixture(params=["embedded", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an index can be made, in each store."""
    if request.param == "embedded":
        return str(tmp_path / "archive.index")
    address = request.getfixturevalue("postgres")
    return f"{address}#test_{abs(hash(tmp_path)):x}"


@pytest.fixture
def make(where: str) -> Iterator[Make]:
    """Makes the index, or opens it again."""
    opened: list[Index] = []

    def made(*arguments: object, **options: object) -> Index:
        while opened:
            opened.pop().close()
        try:
            opened.append(Index.open(where))
        except NoIndex:
            opened.append(Index.create(where, *arguments, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield made
    while opened:
        opened.pop().close()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With CHAFFINCH_NO_SKIPS a skipped test is a failure: nothing may be missing on such a machine."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CHAFFINCH_NO_SKIPS") and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
