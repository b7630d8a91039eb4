"""The pages that deploy/checks/console opens, and the commands that they print."""

import os
import subprocess

from console_browser import AXE, AXE_IN_THE_DARK, sign_in, violations, watch, wider_than_screen

WIDTHS = (320, 1280)
SCHEMES = {"light": AXE, "dark": AXE_IN_THE_DARK}

# The parts of a page that are stored. Screenshots take long, so one is made only after an error.
SCREENSHOTS = {(320, "light"), (1280, "dark")}

# After a path: the page that the first row of its list links to.
FIRST = " first"

# By the name of the screenshots.
PAGES = {
    "tenants": "/",
    "places": "/t/many/places",
    "places-found": "/t/many/places?q=tea+room",
    "places-none": "/t/many/places?q=nothing+like+it",
    "place": "/t/restaurants/places/restaurant_a",
    "edit": "/t/restaurants/places/restaurant_a/edit",
    "edit-errors": "/t/restaurants/places/restaurant_a/edit?name=&latitude=91&longitude=x&radius=501",
    "review": "/t/restaurants/places/restaurant_a/edit?name=Restaurant+A&latitude=37.337&longitude=-122.0089&radius=100",
    "delete": "/t/restaurants/places/restaurant_a/delete",
    "add-place": "/t/restaurants/add/places",
    "add-url": "/t/restaurants/add/urls?location=restaurant_b",
    "add-clip": "/t/restaurants/add/clips",
    "add-code": "/t/restaurants/add/codes",
    "clips": "/t/restaurants/clips",
    "clip": "/t/restaurants/clips" + FIRST,
    "clip-edit": "/t/restaurants/clips/com.example.MyApp.Clip/edit",
    "codes": "/t/restaurants/codes",
    "code": "/t/restaurants/codes" + FIRST,
    "code-edit": "/t/restaurants/codes/lunch/edit",
    "code-review": "/t/restaurants/codes/lunch/edit?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_b",
    "diagnose": "/t/restaurants/diagnose",
    "diagnosis": "/t/restaurants/diagnose?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a%2Forder%2F1234",
    "problems": "/t/restaurants/problems",
    "overview": "/t/restaurants/overview",
    "statistics": "/t/restaurants/statistics",
    "statistics-locations": "/t/restaurants/statistics?by=location",
    "confirmations": "/t/restaurants/confirmations",
    "deliveries": "/t/restaurants/deliveries",
    "deliveries-refused": "/t/restaurants/deliveries?state=refused&reason=TooManyRequests",
    "retry": "/t/restaurants/retry?state=refused&reason=TooManyRequests",
    "images": "/t/restaurants/images",
    "images-none": "/t/many/images",
    "import": "/t/restaurants/import",
    "appstore": "/t/restaurants/appstore",
    "appstore-none": "/t/many/appstore",
    "appstore-plan": "/t/restaurants/appstore" + FIRST,
    "audit": "/t/restaurants/audit",
    "requests": "/t/restaurants/requests",
    "urls": "/t/restaurants/urls",
    "urls-part": "/t/restaurants/urls?at=example.com%2Frestaurants",
    "experience": "/t/restaurants/urls/exp_YWV4YW1wbGUuY29tL3Jlc3RhdXJhbnRzL3Jlc3RhdXJhbnRfYQ",
    "experience-edit": "/t/restaurants/urls/exp_YWV4YW1wbGUuY29tL3Jlc3RhdXJhbnRzL3Jlc3RhdXJhbnRfYQ/edit",
    "experience-delete": "/t/restaurants/urls/exp_YWV4YW1wbGUuY29tL3Jlc3RhdXJhbnRzL3Jlc3RhdXJhbnRfYQ/delete",
    "domains": "/t/restaurants/domains",
    "domain": "/t/restaurants/domains/example.com",
    "keys": "/t/restaurants/keys",
    "key": "/t/restaurants/keys" + FIRST,
    "webhooks": "/t/restaurants/webhooks",
    "webhook": "/t/restaurants/webhooks" + FIRST,
    "hostile-urls": "/t/hostile/urls",
    "hostile-codes": "/t/hostile/codes",
    "hostile-code": "/t/hostile/codes" + FIRST,
    "hostile-add": "/t/hostile/add/places?identifier=%22%3E%3Cimg+src%3Dx%3E&details=%3C%2Ftextarea%3E%3Cb%3E",
    "hostile-keys": "/t/hostile/keys",
    "hostile-key": "/t/hostile/keys" + FIRST,
    "tenants-limits": "/tenants",
    "tenant": "/tenants/restaurants",
    "hostile-tenant": "/tenants/hostile",
    "status": "/status",
    "hostile-places": "/t/hostile/places",
    "hostile-found": "/t/hostile/find?q=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
    "hostile-problems": "/t/hostile/problems?code=code_unfit",
    "hostile-audit": "/t/hostile/audit",
    "hostile-requests": "/t/hostile/requests?request=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
    "hostile-diagnosis": "/t/hostile/diagnose?url=https%3A%2F%2Fhostile.example.com%2Fh%2F%3Cb%3E%22%2F%252e%252e%2F%EF%B7%BD",
    "hostile-diagnosis-none": "/t/hostile/diagnose?url=%3C%2Ftitle%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    "hostile-overview": "/t/hostile/overview",
    "hostile-statistics": "/t/hostile/statistics?by=location&location=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
    "hostile-confirmations": "/t/hostile/confirmations",
    "hostile-deliveries": "/t/hostile/deliveries",
    "hostile-retry": "/t/hostile/retry?state=refused&reason=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
    "hostile-images": "/t/hostile/images",
    "hostile-domains": "/t/hostile/domains",
    "hostile-domain": "/t/hostile/domains/example.com",
    "hostile-webhooks": "/t/hostile/webhooks",
    "hostile-webhook": "/t/hostile/webhooks" + FIRST,
    "hostile-appstore": "/t/hostile/appstore",
    "hostile-appstore-plan": "/t/hostile/appstore" + FIRST,
    "sessions": "/sessions",
    "help": "/help",
    "nothing": "/t/nobody/places",
}

# Statuses of pages that are not 200.
STATUSES = {
    "nothing": 404, "import-refused": 422, "hostile-import-refused": 422, "edit-errors": 422, "hostile-edit-errors": 422,
}


ROWS = """identifier,name,latitude,longitude,radius
restaurant_a,Restaurant A,37.35,-122.008889,100
"<b>new</b>",New,37.3,-122,80
"""


HOSTILE_ROWS = """identifier,name,latitude,longitude,radius
"</title><script>alert(1)</script>","<b>""&\u202Egnp.exe",10,20,100
javascript:alert(1),\U0001D54F\u0335\u0336\u0337,10,20,100
"""


def pages(browser, origin, cookies):
    """Pages with IDs in their addresses."""
    context = browser.new_context(storage_state=cookies)
    page = context.new_page()
    page.set_default_timeout(120_000)
    found = {}
    for prefix, tenant, rows in (("", "restaurants", ROWS), ("hostile-", "hostile", HOSTILE_ROWS)):
        start = f"{origin}/t/{tenant}"
        for name, part, link in (
            ("delivery", "deliveries?state=refused", 'main th a[href*="/deliveries/"]'), ("image", "images", ".images a"),
            ("place", "places", "main .row"),
        ):
            page.goto(f"{start}/{part}")
            found[prefix + name] = page.locator(link).first.get_attribute("href")
        page.goto(origin + found[prefix + "delivery"])
        found[prefix + "notification"] = page.locator('main dd a[href*="/deliveries/"]').first.get_attribute("href")
        for name, rows in (("import-diff", rows), ("import-refused", rows + "bad,Bad,91,0,1\n<b>,,0,0,x\n")):
            page.goto(f"{start}/import")
            page.locator("textarea").fill(rows)
            page.get_by_role("button", name="Review rows").click()
            page.wait_for_url("**/import/*")
            found[prefix + name] = page.url[len(origin):]
    edit = found["hostile-place"] + "/edit"
    found["hostile-edit"] = edit
    found["hostile-delete"] = found["hostile-place"] + "/delete"
    found["hostile-edit-errors"] = edit + "?name=&latitude=%3Cb%3E&longitude=x&radius=501"
    found["hostile-review"] = edit + "?name=%3C%2Ftitle%3E%E2%80%AEgnp&latitude=11&longitude=21&radius=90"
    context.close()
    return PAGES | found


def take_picture(browser, origin, cookies, path):
    """The README's."""
    from playwright.sync_api import expect

    context = browser.new_context(storage_state=cookies, viewport={"width": 1200, "height": 760}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{origin}/t/many/places")
    expect(page.locator("#map-says")).to_contain_text("in view", timeout=20_000)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)
    context.close()


def find_pages(browser, origin, link, picture):
    """The cookies after a sign-in with the link, and the addresses of all pages by name."""
    state = browser.new_context()
    sign_in(state, link)
    cookies = state.storage_state()
    state.close()
    take_picture(browser, origin, cookies, picture)
    return cookies, pages(browser, origin, cookies)


def look_at_pages(browser, origin, cookies, looked_at, width, screenshots, failures):
    """Returns the commands that pages show as equivalent, each with the name of a page."""
    from playwright.sync_api import expect

    context = browser.new_context(
        storage_state=cookies, viewport={"width": width, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    commands, now, status = {}, [""], [200]
    watch(page, origin, failures, lambda: now[0], lambda: status[0])

    def go(path, wanted):
        status[0] = wanted
        answer = page.goto(origin + path)
        failures.expect(answer.status == wanted, now[0], f"is answered {answer.status}")

    for name, path in looked_at.items():
        now[0] = f"{name} {width}"
        go(path.removesuffix(FIRST), STATUSES.get(name, 200))
        if path.endswith(FIRST):
            go(page.locator("main .row").first.get_attribute("href"), 200)
        if page.locator("[data-map]").count():
            expect(page.locator(".leaflet-container")).to_be_visible(timeout=20_000)
            if page.locator('[data-map="cells"]').count():
                expect(page.locator("#map-says")).to_contain_text("in view", timeout=20_000)
            page.wait_for_load_state("networkidle")
        for line in page.locator("[aria-labelledby=commands] code").all_text_contents():
            commands[line] = name
        for scheme, rules in SCHEMES.items():
            now[0] = f"{name} {width} {scheme}"
            page.emulate_media(color_scheme=scheme)
            wrong = list(violations(page, rules))
            wide = wider_than_screen(page)
            if wide > 0:
                wrong.append(f"is {wide} px wider than the screen")
            for text in wrong:
                failures.add(now[0], text)
            if wrong or (width, scheme) in SCREENSHOTS:
                page.screenshot(
                    path=screenshots / f"{name}-{width}-{scheme}.jpg", type="jpeg", quality=80, full_page=True)
    context.close()
    return commands


def parse_commands(commands, doorstep, folder, failures):
    """Parses the printed commands with a shell and the program: each must be a command with valid options and quoting.

    Nothing is done: there is no such database.
    """
    environment = os.environ | {"DOORSTEP": doorstep, "DATABASE_URL": "postgresql://127.0.0.1:1/none?connect_timeout=1"}
    for line, name in commands.items():
        # This command opens the site and no database. The page shows it with an invalid value, which the command refuses too.
        if line.startswith("doorstep domain check ") or name.endswith("edit-errors"):
            continue
        outcome = subprocess.run(
            ["bash", "-c", 'doorstep() { "$DOORSTEP" "$@"; }\n' + line], cwd=folder, env=environment, capture_output=True,
            text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=60, check=False)
        # EX_USAGE, and a shell's codes for unreadable or missing commands.
        failures.expect(
            line.startswith("doorstep ") and (
                outcome.returncode not in (0, 2, 64, 126, 127) or line == "doorstep --help" or "no terminal to ask on" in outcome.stderr),
            name,
            f"prints {line!r}, which ends with {outcome.returncode}: {outcome.stderr.strip()[:300]}")
