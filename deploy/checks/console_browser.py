"""Browsers for the console, and the faults that fail the check in every page."""

import collections
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# A page uses one core; CI has two.
BROWSERS = 2
AXE = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}
# The rules about colours (axe's category cat.color, without AAA). In the dark theme, only they can have other results.
# The width decides which elements are visible, so all rules run at each width.
AXE_IN_THE_DARK = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def in_browsers(*tasks):
    """Runs the tasks with several browsers. Each takes the next task when it has finished one. Returns the results."""
    from playwright.sync_api import sync_playwright

    waiting = collections.deque(enumerate(tasks))
    returned = [None] * len(tasks)

    def work(_):
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            while True:
                try:
                    number, task = waiting.popleft()
                except IndexError:
                    break
                returned[number] = task(browser)
            browser.close()

    with ThreadPoolExecutor(BROWSERS) as threads:
        list(threads.map(work, range(min(BROWSERS, len(tasks)))))
    return returned


class Failures:
    def __init__(self):
        self.found = []

    def add(self, what, text):
        self.found.append(f"{what}: {text}")
        print(f"console: {what}: {text}", file=sys.stderr)

    def expect(self, isSo, what, text):
        if not isSo:
            self.add(what, text)


def watch(page, origin, failures, what, status=lambda: 200):
    """A page that writes nothing to its console, opens no dialog, and sends requests to no other origin.

    Its own status, where it is to be another than 200, a browser tells there; of none of its files it has to say anything.
    """
    # A busy machine is slow; that is no fault of the page.
    page.set_default_timeout(120_000)

    def said(message):
        isOwn = (status() != 200 and f"status of {status()}" in message.text
                 and message.location["url"].split("#")[0] == page.url.split("#")[0])
        if not isOwn:
            failures.add(what(), f"console says {message.text!r} ({page.url})")

    page.on("console", said)
    page.on("pageerror", lambda error: failures.add(what(), f"error {error} ({page.url})"))
    page.on("dialog", lambda dialog: (failures.add(what(), f"dialog {dialog.message!r}"), dialog.dismiss()))

    def route(route):
        if route.request.url.startswith((origin, "data:")):
            route.continue_()
        else:
            failures.add(what(), f"asks {route.request.url}")
            route.abort()

    page.route("**/*", route)


def violations(page, rules=AXE):
    """The violations that axe finds. The passed rules, which are most of its result, stay in the browser."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        "rules => axe.run(rules).then(answer => answer.violations)", rules | {"resultTypes": ["violations"]})
    for violation in found:
        nodes = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
        yield f"axe {violation['id']}: {violation['help']} at {nodes}"


def wider_than_screen(page):
    """The overflow in pixels."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def link(options, port, name, *arguments):
    """A sign-in link. It is made when it is used, because it is valid for ten minutes and the machine may be slow."""
    command = [options.doorstep, "console", "link", "--console-port", str(port), "--as", name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sign_in(context, link):
    page = context.new_page()
    page.goto(link)
    page.wait_for_url("**/")
    page.close()
