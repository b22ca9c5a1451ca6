"""One stage and one browser for all tests; each test has pages of its own."""

import os

import pytest
from playwright.sync_api import expect, sync_playwright

from stage import Stage, patience_s

expect.set_options(timeout=patience_s * 1000)

chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")
desk = {"width": 1280, "height": 800}
phone = {"width": 320, "height": 700}


@pytest.fixture(scope="session")
def stage():
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitor:
    """Opens pages as somebody with a key of a role, and notes what goes wrong in them."""

    def __init__(self, stage, browser):
        self.stage = stage
        self.browser = browser
        self.contexts = []
        self.faults = []

    def open(self, route="", role="operator-act", key=None, **options):
        context = self.browser.new_context(**{"viewport": desk, "reduced_motion": "reduce", **options})
        context.set_default_timeout(patience_s * 1000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._hear)
        page.on("request", self._check_request)
        if role:
            answer = context.request.post(f"{self.stage.url}/v1/session", data={"key": key or self.stage.keys[role]})
            assert answer.status == 200, answer.text()
        page.goto(f"{self.stage.url}/#/{route}")
        if role:
            page.wait_for_selector("#pause")
        return page

    def _hear(self, message):
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.faults.append(message.text)

    def _check_request(self, request):
        if not request.url.startswith(self.stage.url):
            self.faults.append(f"something is asked of elsewhere: {request.url}")

    def close(self):
        for context in self.contexts:
            context.close()


@pytest.fixture
def visitor(stage, browser):
    visitor = Visitor(stage, browser)
    yield visitor
    visitor.close()
    assert visitor.faults == []
