"""The tasks of deploy/checks/console, in two browsers at a time.

usage: console.py PORT SCREENSHOTS --tiles-port PORT --database URL --doorstep PATH --scratch FOLDER [--picture FILE]
"""

import argparse
import pathlib
import sys
import time

from console_browser import Failures, in_browsers, link
from console_pages import WIDTHS, find_pages, look_at_pages, parse_commands
from console_refusals import refuse
from console_walks import (
    add_change_undo_delete, ask_first, edit_on_map, keep_form, look_at_missing_tiles, look_at_tiles, measure, send_files, show_keys_once,
    walk_by_keys, walk_without_scripts)


def look(options):
    failures = Failures()
    screenshots = pathlib.Path(options.screenshots)
    origin = f"http://127.0.0.1:{options.port}"
    start = time.monotonic()

    # Each link works once. The audit log shows the names in these links.
    def person(name):
        return link(options, options.port, name)

    [(cookies, pages)] = in_browsers(
        lambda browser: find_pages(browser, origin, person("Cay"), options.picture or screenshots / "picture.png"))

    def at(width):
        return lambda browser: look_at_pages(browser, origin, cookies, pages, width, screenshots, failures)

    commands = {line: page for printed in in_browsers(*map(at, WIDTHS)) for line, page in printed.items()}
    # Their changes appear on no other page of this check.
    in_browsers(
        lambda _: parse_commands(commands, options.doorstep, options.scratch, failures),
        lambda browser: refuse(browser, origin, options.port, options, failures),
        lambda browser: walk_by_keys(browser, origin, person("Ada"), failures),
        lambda browser: walk_without_scripts(browser, origin, person("Ben"), failures),
        lambda browser: show_keys_once(browser, origin, person("Hal"), failures),
        lambda browser: ask_first(browser, origin, person("Ida"), person("Jo"), failures),
        lambda browser: keep_form(browser, origin, person("May"), person("Ned"), failures),
        lambda browser: send_files(browser, origin, person("Fay"), failures),
        lambda browser: look_at_tiles(browser, link(options, options.tiles_port, "Gil"), failures),
        lambda browser: look_at_missing_tiles(browser, link(options, options.tiles_port, "Kim"), failures),
        lambda browser: edit_on_map(browser, origin, person("Lee"), failures),
        lambda browser: add_change_undo_delete(browser, origin, person("Oda"), failures),
        lambda browser: measure(browser, origin, person("Dee"), failures))
    if failures.found:
        sys.exit(f"console: {len(failures.found)} failures")
    print(f"console: {len(pages)} pages at {len(WIDTHS)} widths, light and dark, without a violation of WCAG 2.2 AA, a "
          f"message, another origin or horizontal scroll; {len(commands)} commands that they print are read by the program; walked "
          f"by keys and without JavaScript; refusals hold ({time.monotonic() - start:.0f} s)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("screenshots")
    parser.add_argument("--tiles-port", type=int, required=True)
    for name in ("database", "doorstep", "scratch"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--picture")
    look(parser.parse_args())


if __name__ == "__main__":
    main()
