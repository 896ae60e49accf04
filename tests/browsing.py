"""Open pages in a real browser; a test fails if a page has an error or requests anything from elsewhere."""

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
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open pages, and check at the end that none had an error or requested anything but files."""
    problems: list[str] = []
    contexts = []

    def open_path(path: Path | str, at: str = "", *, dark: bool = False, scripts: bool = True) -> Page:
        """Open a file, or an address of a service; then requests to that service are expected too."""
        address = path if isinstance(path, str) else path.as_uri()
        expected = ("file:", "blob:", "/".join(address.split("/")[:3]) if isinstance(path, str) else "file:")
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            viewport={"width": 1300, "height": 900},
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on(
            "request",
            lambda request: None if request.url.startswith(expected) else problems.append(request.url),
        )
        page.goto(address + at)
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert problems == []
