"""Fixtures and markers that all tests share: instruction levels, index stores, programs that tests run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from chaffinch.errors import NoIndex
from chaffinch.index.address import is_database
from chaffinch.index.index import Index
from chaffinch.native import fingerprint as core
from chaffinch.service.site import Site
from tests.indexed import Make
from tests.postgres_server import OUTSIDE, address, has_citus, new_name, postgres, store
from tests.web_server import Web, running_web
from tools.programs import FINDERS

__all__ = ["address", "level", "make", "postgres", "site", "store", "where"]

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


@pytest.fixture(params=["embedded", pytest.param("postgres", marks=pytest.mark.postgres)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an index can be made, in each store."""
    if request.param == "embedded":
        return str(tmp_path / "archive.index")
    return f"{request.getfixturevalue('postgres')}#{new_name()}"


@pytest.fixture
def site(where: str, tmp_path: Path) -> Iterator[Site]:
    """A service on each database, without any process of its own."""
    opened = Site(tmp_path / "data", where if is_database(where) else None)
    yield opened
    opened.close()


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server on this machine."""
    with running_web() as running:
        yield running


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fail-on-skip", action="store_true", help="Fail the run if any test was skipped.")


@pytest.hookimpl(tryfirst=True)  # before -m selects by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test that uses the fixture `browser` or `postgres`; the other markers are on the tests.

    Tests of Citus exist only where CHAFFINCH_POSTGRES has it, because it cannot be installed like the programs.
    """
    for item in items:
        for name in FINDERS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(name)
    on_citus = [item for item in items if item.get_closest_marker("citus")]
    if on_citus and not has_citus():
        config.hook.pytest_deselected(items=on_citus)
        items[:] = [item for item in items if item not in on_citus]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is not installed."""
    for name, find in FINDERS.items():
        is_elsewhere = name == "postgres" and OUTSIDE
        if item.get_closest_marker(name) and not is_elsewhere and find() is None:
            pytest.skip(f"{name} is not installed: run `make programs`")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    fail_on_skip = session.config.getoption("--fail-on-skip")
    if fail_on_skip and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
