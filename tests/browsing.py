"""A real browser for tests: pages from disk, which may neither have an error nor ask for anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tools.programs import find_browser

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_browser()
    assert program, "install Chromium: run `make programs`"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens pages, and sees to it that none of them has an error or asks for anything but files."""
    troubles: list[str] = []
    contexts = []

    def opened(path: Path, at: str = "", *, dark: bool = False, scripts: bool = True) -> Page:
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            viewport={"width": 1300, "height": 900},
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on(
            "request",
            lambda asked: None if asked.url.startswith(("file:", "blob:")) else troubles.append(asked.url),
        )
        page.goto(path.as_uri() + at)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
