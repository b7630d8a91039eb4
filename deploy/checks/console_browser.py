"""Browsers on the console, and what they must not see there."""

import collections
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# A page keeps one core busy; continuous integration has two.
BROWSERS = 2
AXE = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}
# Of a page's colours these rules alone ask (axe's category cat.color, but for AAA): the others are the same in the dark.
# Whether something is shown at all depends on the width: no rule is the same at each.
AXE_IN_THE_DARK = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def in_browsers(*tasks):
    """Does each task by a browser, of which each takes the next as soon as it has done one; returns what they return."""
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
    """A page says nothing on its console, opens no dialog, and asks no other origin.

    Its own status, where it is to be another than 200, a browser tells there; of none of its files it has to say anything.
    """
    # A machine that has much else to do is slow, and not wrong.
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
    """What axe finds in a page. What it finds in order is most of its answer, and stays in the browser."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        "rules => axe.run(rules).then(answer => answer.violations)", rules | {"resultTypes": ["violations"]})
    for violation in found:
        nodes = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
        yield f"axe {violation['id']}: {violation['help']} at {nodes}"


def wider_than_screen(page):
    """By how many pixels."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def link(options, port, name, *arguments):
    """One that signs somebody in, made when it is used: it is good for ten minutes, and a machine may be slow."""
    command = [options.doorstep, "console", "link", "--console-port", str(port), "--as", name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sign_in(context, link):
    page = context.new_page()
    page.goto(link)
    page.wait_for_url("**/")
    page.close()
