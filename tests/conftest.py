"""What all tests share: the instruction levels, and the rule that nothing may be skipped where it counts."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from chaffinch import core
from tests.postgres_server import postgres

__all__ = ["level", "postgres"]

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


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With CHAFFINCH_NO_SKIPS a skipped test is a failure: nothing may be missing on such a machine."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CHAFFINCH_NO_SKIPS") and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
