"""The system's Chromium, driven by Playwright; nothing is ever downloaded."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import BrowserContext, async_playwright

from tests.stand_ins.required import required

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@asynccontextmanager
async def running(profile: Path) -> AsyncIterator[BrowserContext]:
    """A browser with an empty profile; without one on this machine the test is left out."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    program = required("Chromium", found, "install the package `chromium`")
    async with async_playwright() as play:
        browser = await play.chromium.launch_persistent_context(
            profile, executable_path=program, headless=True, args=FLAGS
        )
        browser.set_default_timeout(10_000)
        try:
            yield browser
        finally:
            await browser.close()
