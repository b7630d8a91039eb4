"""What deploy/checks/console puts into the database, and what it looks at in the browser.

usage: console.py seed FOLDER PLACES
       console.py look PORT SCREENSHOTS --tiles-port PORT --database URL --doorstep PATH --scratch FOLDER
                  [--picture FILE]
"""

import argparse
import csv
import gzip
import http.client
import os
import pathlib
import random
import struct
import subprocess
import sys
import time
import urllib.parse
import zlib

# MARK: What there is

HOSTILE = [
    '"><img src=x onerror=alert(1)>',
    "</title></table><script>alert(1)</script>",
    "\u202Egnp.exe \u202D\u2066abc",
    "\U0001D54F" * 128,
    "Z" + "\u0335\u0336\u0337" * 40,
    "'; DROP TABLE locations; --",
    "مطعم ١٢٣ – “A” & <b>",
    "a" * 128,
    "javascript:alert(1)",
]

CITIES = [
    ("Amsterdam", 52.37, 4.90), ("Berlin", 52.52, 13.40), ("Cupertino", 37.33, -122.01), ("Lagos", 6.52, 3.38),
    ("London", 51.51, -0.13), ("Mexico City", 19.43, -99.13), ("Mumbai", 19.08, 72.88), ("Nairobi", -1.29, 36.82),
    ("New York", 40.71, -74.01), ("Paris", 48.86, 2.35), ("São Paulo", -23.55, -46.63), ("Seoul", 37.57, 126.98),
    ("Sydney", -33.87, 151.21), ("Tokyo", 35.69, 139.69), ("Toronto", 43.65, -79.38), ("Warsaw", 52.23, 21.01),
]

KINDS = ["Bakery", "Bike station", "Café", "Noodle bar", "Parking", "Pharmacy", "Pizzeria", "Scooter dock", "Tea room"]


# What APNs and App Store Connect have answered: here nobody asks them.
SENT = """
    SET session_replication_role = replica;
    DO $$
    DECLARE
        t uuid;
        name text;
        said text;
        place text;
        ms bigint := floor(extract(epoch FROM now()) * 1000)::bigint - 60000;
        made timestamptz := 'epoch'::timestamptz + ms * interval '1 ms';
        id text := lpad(to_hex(ms), 12, '0') || '70008000';
    BEGIN
        FOR t, name IN SELECT tenant_id, slug FROM doorstep.tenants WHERE slug IN ('restaurants', 'hostile') LOOP
        said := CASE name WHEN 'hostile' THEN '"><img src=x onerror=alert(1)>' ELSE 'TooManyRequests' END;
        place := CASE name WHEN 'hostile' THEN '</script><script>alert(1)</script>' ELSE 'restaurant_a' END;
        PERFORM set_config('doorstep.tenant_id', t::text, true);
        INSERT INTO doorstep.notifications (tenant_id, created_at, notification_id, bundle_id, url, experience_url,
            location_identifier, audience, push_type, priority, payload)
        VALUES (t, made, (id || lpad('1', 12, '0'))::uuid, 'com.example.MyApp.Clip',
            'https://example.com/restaurants/' || place, 'https://example.com/restaurants/restaurant_a', place,
            '{"business": true}', 'alert', 10, convert_to('{"aps":{"alert":"<b>Your table</b> is ready"}}', 'UTF8'));
        INSERT INTO doorstep.deliveries (tenant_id, created_at, notification_id, delivery_id, instance_id, token_kind,
            environment, state, reason, due_at, attempt, finished_at, answers)
        SELECT t, made, (id || lpad('1', 12, '0'))::uuid, (id || lpad(to_hex(n + 1), 12, '0'))::uuid,
            gen_random_uuid(), 'device', 'production', s.state, s.reason, CASE s.state WHEN 'queued' THEN now() END,
            CASE s.state WHEN 'queued' THEN 0 ELSE 1 END, CASE s.state WHEN 'queued' THEN NULL ELSE now() END,
            CASE s.state WHEN 'refused' THEN jsonb_build_array(jsonb_build_object('attempt', 1,
                'at', ms, 'status', 429,
                'reason', s.reason)) ELSE '[]' END
        FROM generate_series(1, 70) AS n, LATERAL (
            SELECT (ARRAY['delivered', 'delivered', 'refused', 'refused', 'uncertain', 'queued'])[1 + n % 6],
                (ARRAY[NULL, NULL, said, 'Unregistered', NULL, NULL])[1 + n % 6]
        ) AS s (state, reason);
        INSERT INTO doorstep.app_store_connections (tenant_id, bundle_id, key_id, issuer_id, sealed_secret)
        VALUES (t, 'com.example.MyApp.Clip', 'ABCDE12345', NULL, convert_to(repeat('x', 64), 'UTF8'));
        INSERT INTO doorstep.app_store_experiences (tenant_id, bundle_id, url, phase, remote_id, content, sent_at)
        VALUES (t, 'com.example.MyApp.Clip', 'https://example.com/restaurants', 'created', '1', '{}', now());
        INSERT INTO doorstep.app_store_refusals (tenant_id, bundle_id, url, content, code, source, refused_at)
        VALUES (t, 'com.example.MyApp.Clip', 'https://example.com/restaurants/' || place, '{}',
            'ENTITY_ERROR.ATTRIBUTE.INVALID', '/data/attributes/link', now());
        INSERT INTO doorstep.app_store_runs (tenant_id, run_id, bundle_id, actor, started_at, ended_at, outcome)
        VALUES (t, gen_random_uuid(), 'com.example.MyApp.Clip', 'operator:ada', now(), now(), 'done'),
            (t, gen_random_uuid(), 'com.example.MyApp.Clip', 'operator:<b>', now(), NULL, NULL);
        INSERT INTO doorstep.app_store_checks
            (tenant_id, bundle_id, due_at, checked_at, counts, summary, findings_digest, failure)
        VALUES (t, 'com.example.MyApp.Clip', now(), now(), '{}', jsonb_build_object('inStep', false,
            'counts', '{"create": 3, "update": 120}'::jsonb, 'findings', '{"place_rewritten": 60}'::jsonb,
            'places', '{"matched": 7}'::jsonb, 'missing', jsonb_build_array('https://example.com/' || place)),
            sha256(''), CASE name WHEN 'hostile' THEN said END);
        INSERT INTO doorstep.app_store_check_rows (tenant_id, bundle_id, url, row_json)
        SELECT t, 'com.example.MyApp.Clip', 'https://example.com/restaurants/' || place || n, jsonb_build_object('step', 'update',
            'id', '1' || n, 'changes', jsonb_build_array(jsonb_build_object('path', '/attributes/link', 'old', said,
            'new', repeat('x', 300))), 'findings', jsonb_build_array(jsonb_build_object('code', 'place_rewritten',
            'detail', said)))
        FROM generate_series(1, 120) AS n;
        END LOOP;
    END $$;
    """


def write_csv(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def picture():
    """A PNG as cards have them: 1800 × 1200 pixels in RGB."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\0" + bytes((13 + y // 10, 107, 88)) * 1800 for y in range(1200))
    header = struct.pack(">IIBBBBB", 1800, 1200, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def seed(folder, count):
    folder = pathlib.Path(folder)
    (folder / "header.png").write_bytes(picture())
    dice = random.Random(20251124)
    columns = ["identifier", "name", "latitude", "longitude", "radius"]
    restaurants = [
        ("restaurant_a", "Restaurant A", 37.334722, -122.008889, 100),
        ("restaurant_b", "Restaurant B", 37.331820, -122.031180, 60),
        ("restaurant_c", "Restaurant C", 37.331820, -122.031180, 8),
    ]
    many = []
    for number in range(count):
        city, latitude, longitude = CITIES[dice.randrange(len(CITIES))]
        kind = KINDS[dice.randrange(len(KINDS))]
        many.append((
            f"p{number:05}", f"{kind} {number:05}, {city}", round(latitude + dice.gauss(0, 0.35), 6),
            round(longitude + dice.gauss(0, 0.5), 6), dice.choice([25, 50, 80, 100, 150, 300])))
    many[7] = (*many[7][:2], 0, 0, 50)
    hostile = [
        (name[:100] + f" {number}", name, 10 + number, 20 + number, 100) for number, name in enumerate(HOSTILE)
    ]
    (folder / "hostile.place").write_text(hostile[0][0], encoding="utf-8")
    names = {"restaurants": "Restaurants", "many": "City Services", "hostile": HOSTILE[0]}
    for tenant, rows in (("restaurants", restaurants), ("many", many), ("hostile", hostile)):
        (folder / f"{tenant}.name").write_text(names[tenant], encoding="utf-8")
        write_csv(folder / f"{tenant}.locations.csv", columns, rows)
    clip = "com.example.MyApp.Clip"
    experiences = ["clip", "url", "kind", "location", "identifier_rule", "title", "subtitle"]
    write_csv(folder / "restaurants.experiences.csv", experiences, [
        (clip, "https://example.com/restaurants/restaurant_a", "advanced", "restaurant_a", "", "Restaurant A", "Order"),
        (clip, "https://example.com/restaurants", "advanced", "", "path:1", "Restaurants", "Order at your table"),
        (clip, "https://example.com", "default", "", "", "", ""),
    ])
    write_csv(folder / "many.experiences.csv", experiences, [
        (clip, "https://city.example.com/s", "advanced", "", "path:1", "City Services", "Open the door"),
    ])
    write_csv(folder / "hostile.experiences.csv", experiences, [
        (clip, "https://hostile.example.com/h", "advanced", "", "path:1", "<b>&\"'", "</title>"),
    ])
    # Confirmations of days that are over cannot be asked for.
    (folder / "confirmations.sql").write_text("""
        DO $$
        DECLARE t uuid;
        BEGIN
            FOR t IN SELECT tenant_id FROM doorstep.tenants WHERE slug IN ('restaurants', 'many') LOOP
                PERFORM set_config('doorstep.tenant_id', t::text, true);
                INSERT INTO doorstep.confirmations
                    (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                SELECT t, gen_random_uuid(), CASE n % 3 WHEN 0 THEN 'restaurant_a' WHEN 1 THEN 'p00001' ELSE 'p00002' END,
                    (ARRAY['inRegion', 'inRegion', 'inRegion', 'inRegion', 'notInRegion', 'disallowed', 'undetermined'])
                        [1 + n % 7], 'qr_code',
                    date_trunc('minute', now() - make_interval(hours => (n * n) % 700), 'UTC')
                FROM generate_series(1, 900) AS n;
            END LOOP;
        END $$;
        """ + SENT, encoding="utf-8")


# MARK: What is looked at

WIDTHS = (320, 1280)
AXE = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}

# Of the colours that a page has, one rule alone asks: the others are the same in the dark.
SCHEMES = {"light": AXE, "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}}}

# Behind a path: the page to which the first row of its list leads.
FIRST = " first"

# By the name of its screenshots.
PAGES = {
    "tenants": "/",
    "places": "/t/many/places",
    "places-found": "/t/many/places?q=tea+room",
    "places-none": "/t/many/places?q=nothing+like+it",
    "place": "/t/restaurants/places/restaurant_a",
    "edit": "/t/restaurants/places/restaurant_a/edit",
    "edit-errors": "/t/restaurants/places/restaurant_a/edit?name=&latitude=91&longitude=x&radius=501",
    "review": "/t/restaurants/places/restaurant_a/edit?name=Restaurant+A&latitude=37.337&longitude=-122.0089&radius=100",
    "diagnose": "/t/restaurants/diagnose",
    "diagnosis": "/t/restaurants/diagnose?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a%2Forder%2F1234",
    "problems": "/t/restaurants/problems",
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
    "urls": "/t/restaurants/urls",
    "urls-part": "/t/restaurants/urls?at=example.com%2Frestaurants",
    "experience": "/t/restaurants/urls/exp_YWV4YW1wbGUuY29tL3Jlc3RhdXJhbnRzL3Jlc3RhdXJhbnRfYQ",
    "domains": "/t/restaurants/domains",
    "domain": "/t/restaurants/domains/example.com",
    "keys": "/t/restaurants/keys",
    "key": "/t/restaurants/keys" + FIRST,
    "webhooks": "/t/restaurants/webhooks",
    "webhook": "/t/restaurants/webhooks" + FIRST,
    "hostile-urls": "/t/hostile/urls",
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
    "hostile-diagnosis": "/t/hostile/diagnose?url=https%3A%2F%2Fhostile.example.com%2Fh%2F%3Cb%3E%22%2F%252e%252e%2F%EF%B7%BD",
    "hostile-diagnosis-none": "/t/hostile/diagnose?url=%3C%2Ftitle%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
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

# Of pages that are not answered 200.
STATUSES = {"nothing": 404, "import-refused": 422, "hostile-import-refused": 422}


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


def link(options, port, name, *arguments):
    """One that signs somebody in, made when it is used: it is good for ten minutes, and a machine may be slow."""
    command = [options.doorstep, "console", "link", "--console-port", str(port), "--as", name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sign_in(context, link):
    page = context.new_page()
    page.goto(link)
    page.wait_for_url("**/")
    page.close()


ROWS = """identifier,name,latitude,longitude,radius
restaurant_a,Restaurant A,37.35,-122.008889,100
"<b>new</b>",New,37.3,-122,80
"""


HOSTILE_ROWS = """identifier,name,latitude,longitude,radius
"</title><script>alert(1)</script>","<b>""&\u202Egnp.exe",10,20,100
javascript:alert(1),\U0001D54F\u0335\u0336\u0337,10,20,100
"""


def pages(browser, origin, cookies):
    """Those whose addresses are not known before."""
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
            page.get_by_role("button", name="Show what they would do").click()
            page.wait_for_url("**/import/*")
            found[prefix + name] = page.url[len(origin):]
    edit = found["hostile-place"] + "/edit"
    found["hostile-edit"] = edit
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


def look_at_pages(browser, origin, link, screenshots, failures, axe, picture, commands):
    """- Parameter commands: is given what the pages say does the same."""
    from playwright.sync_api import expect

    state = browser.new_context()
    sign_in(state, link)
    cookies = state.storage_state()
    state.close()
    take_picture(browser, origin, cookies, picture or screenshots / "picture.png")
    looked_at = pages(browser, origin, cookies)
    for width in WIDTHS:
        context = browser.new_context(
            storage_state=cookies, viewport={"width": width, "height": 800}, reduced_motion="reduce")
        page = context.new_page()
        now, status = [""], [200]
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
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                failures.expect(wide <= 0, now[0], f"is {wide} px wider than the screen")
                for violation in axe.run(page, options=rules).response["violations"]:
                    nodes = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
                    failures.add(now[0], f"axe {violation['id']}: {violation['help']} at {nodes}")
                page.screenshot(path=screenshots / f"{name}-{width}-{scheme}.png", full_page=True)
        context.close()
    return len(looked_at)


def parse_commands(commands, doorstep, folder, failures):
    """Has a shell and the program itself read what pages print: each is a command with its options, and quoted as it has to be.

    Nothing is done: there is no such database.
    """
    environment = os.environ | {"DOORSTEP": doorstep, "DATABASE_URL": "postgresql://127.0.0.1:1/none?connect_timeout=1"}
    for line, name in commands.items():
        # It asks the site itself, and no database; what somebody has typed and is told to be wrong is so for the command, too.
        if line.startswith("doorstep domain check ") or name.endswith("edit-errors"):
            continue
        outcome = subprocess.run(
            ["bash", "-c", 'doorstep() { "$DOORSTEP" "$@"; }\n' + line], cwd=folder, env=environment, capture_output=True,
            text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=60, check=False)
        # EX_USAGE, and what a shell says that found none.
        failures.expect(
            line.startswith("doorstep ") and (
                outcome.returncode not in (0, 64, 126, 127) or line == "doorstep --help" or "no terminal to ask on" in outcome.stderr),
            name,
            f"prints {line!r}, which ends with {outcome.returncode}: {outcome.stderr.strip()[:300]}")
    return len(commands)


def focus_of(page):
    return page.evaluate(
        "(e => e === document.body ? '' : (e.id || e.name || e.textContent).trim())(document.activeElement)")


def tab_to(page, wanted, failures, what, limit=80):
    for _ in range(limit):
        page.keyboard.press("Tab")
        if wanted in focus_of(page):
            return
    failures.add(what, f"no Tab leads to {wanted!r}")


def arrive(page, pattern):
    """Waits until a page is there and shown: keys that are pressed before Chromium has painted it are lost."""
    page.wait_for_url(pattern)
    page.evaluate("() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")


def walk_by_keys(browser, origin, link, failures):
    """find → place → edit → saved → audit, without a pointer."""
    what = "keyboard"
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    page.goto(f"{origin}/t/many/places")
    page.keyboard.press("/")
    failures.expect(focus_of(page) == "find", what, "'/' does not lead to the box that finds")
    page.keyboard.type("p00005")
    page.keyboard.press("Enter")
    arrive(page, "**/places/p00005")
    page.keyboard.press("e")
    arrive(page, "**/places/p00005/edit")
    tab_to(page, "name", failures, what)
    page.keyboard.press("Control+a")
    page.keyboard.type("Renamed by keys")
    # A letter that is written does nothing else.
    failures.expect(page.url.endswith("/edit"), what, "a letter in a field leads elsewhere")
    tab_to(page, "Review the change", failures, what)
    page.keyboard.press("Enter")
    arrive(page, "**/edit?name=*")
    tab_to(page, "Save", failures, what)
    page.keyboard.press("Enter")
    arrive(page, "**/places/p00005?saved=1")
    failures.expect("Renamed by keys" in page.locator("h1").inner_text(), what, "the name is not shown")
    page.keyboard.press("g")
    page.keyboard.press("a")
    arrive(page, "**/audit")
    text = page.locator("main").inner_text()
    failures.expect("console:Ada" in text and "Renamed by keys" in text, what, "the audit log does not say by whom")
    page.keyboard.press("g")
    page.keyboard.press("p")
    arrive(page, "**/places*")
    second = page.locator("main .row").nth(1).get_attribute("href")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    arrive(page, f"**{second}")
    page.keyboard.press("Shift+?")
    arrive(page, "**/help")
    tab_to(page, "keys", failures, what)
    page.keyboard.press("Enter")
    page.goto(f"{origin}/t/many/places")
    page.keyboard.press("/")
    failures.expect(focus_of(page) != "find", what, "the keys cannot be switched off")
    context.close()


def walk_without_scripts(browser, origin, link, failures):
    """The same, by a pasted link."""
    what = "without JavaScript"
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700})
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    page.goto(f"{origin}/")
    page.get_by_label("The link, or what stands after its #").fill(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
    page.goto(f"{origin}/t/many/places")
    page.get_by_label("Find a place, or paste a URL").fill("p00006")
    page.get_by_role("button", name="Find").click()
    page.wait_for_url("**/places/p00006")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Name").fill("Renamed without scripts")
    page.get_by_label("Latitude").fill("52.5")
    page.get_by_role("button", name="Review the change").click()
    failures.expect("The place moves" in page.locator("main").inner_text(), what, "no distance is shown")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/places/p00006?saved=1")
    failures.expect("Renamed without scripts" in page.locator("h1").inner_text(), what, "the name is not shown")
    form = page.locator('form[action$="/try"]')
    form.get_by_label("Latitude").fill("0")
    form.get_by_label("Longitude").fill("0")
    form.get_by_role("button", name="Try").click()
    failures.expect("notInRegion" in page.locator("main").inner_text(), what, "no outcome is shown")
    page.goto(f"{origin}/t/many/audit")
    failures.expect("console:Ben" in page.locator("main").inner_text(), what, "the audit log does not say by whom")
    page.goto(f"{origin}/t/many/import")
    page.locator("textarea").fill(ROWS.replace("restaurant_a", "p00002"))
    page.get_by_role("button", name="Show what they would do").click()
    page.wait_for_url("**/import/*")
    failures.expect("Moved more than 500 m" in page.locator("main").inner_text(), what, "no distance is shown")
    page.get_by_role("button", name="Import this file").click()
    page.wait_for_url("**/import?added=1*")
    failures.expect("1 changed" in page.locator("main").inner_text(), what, "nothing is said of the import")
    page.goto(f"{origin}/t/restaurants/retry?state=refused&reason=Unregistered")
    page.get_by_role("button", name="again").click()
    page.wait_for_url("**/deliveries?*queued=*")
    failures.expect("queued again" in page.locator("main").inner_text(), what, "nothing is said of another try")
    page.goto(f"{origin}/t/many/images")
    failures.expect("doorstep image add" in page.locator("body").inner_text(), what, "no command adds an image")
    for section in ("images", "import"):
        page.goto(f"{origin}/t/many/{section}")
        failures.expect(
            page.locator("form[data-upload]").count() == 1 and not page.locator("form[data-upload]").is_visible(),
            what, f"the page {section} shows a form that sends nothing")
    context.close()


def send_files(browser, origin, link, failures):
    """What the console's own module sends: a picture, and rows."""
    what = "files"
    context = browser.new_context()
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    page.goto(f"{origin}/t/many/images")
    page.set_input_files("#file", files=[{"name": "header.png", "mimeType": "image/png", "buffer": picture()}])
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**/images/*?added=1")
    loaded = page.locator("main img").evaluate("image => image.decode().then(() => image.naturalWidth)")
    failures.expect(loaded == 1800, what, f"the picture is {loaded} pixels wide")
    page.goto(f"{origin}/t/many/import")
    rows = ROWS.replace("restaurant_a", "p00003").encode()
    page.set_input_files("#file", files=[{"name": "places.csv", "mimeType": "text/csv", "buffer": rows}])
    page.get_by_role("button", name="Show what it would do").click()
    page.wait_for_url("**/import/*")
    failures.expect("Moved more than 500 m" in page.locator("main").inner_text(), what, "no distance is shown")
    context.close()


def look_at_tiles(browser, link, failures):
    """A console whose maps are drawn on somebody else's tiles asks for these and nothing else elsewhere."""
    from playwright.sync_api import expect

    what = "tiles"
    origin = link.split("/login")[0]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    asked, own = [], []
    page.on("request", lambda request: own.append(request.url))

    def answer(route):
        asked.append(route.request.all_headers().get("referer"))
        route.fulfill(content_type="image/png", body=picture())

    page.route("https://tiles.example.com/**", answer)
    page.goto(f"{origin}/t/many/places")
    expect(page.locator(".leaflet-tile-loaded").first).to_be_visible(timeout=20_000)
    failures.expect(set(asked) == {origin + "/"}, what, f"are told {set(asked)}")
    failures.expect(not any("world.json" in url for url in own), what, "land is loaded beside them")
    said = page.locator(".leaflet-control-attribution").inner_text()
    failures.expect("A & <b>B</b>" in said, what, f"the attribution is {said!r}")
    context.close()


def show_keys_once(browser, origin, link, failures, axe):
    """A key and a webhook's secret: in the page that answers the form, in no address, and not once more."""
    what = "shown once"
    context = browser.new_context(viewport={"width": 320, "height": 800}, reduced_motion="reduce")
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    for path, fill, button, start in (
        ("/t/restaurants/keys", lambda: page.get_by_label("Kind", exact=True).select_option("secret"),
         "Create and show it once", "dsk_"),
        ("/t/restaurants/webhooks", lambda: page.get_by_label("URL", exact=True).fill("https://hooks.example.com/b"),
         "Register and show the secret once", "whsec_"),
    ):
        page.goto(origin + path)
        fill()
        with page.expect_response(lambda response: response.request.method == "POST") as response:
            page.get_by_role("button", name=button).click()
        page.wait_for_load_state()
        answer = response.value
        failures.expect(answer.status == 200, what, f"{path} is answered {answer.status}")
        failures.expect(answer.headers.get("cache-control") == "no-store", what, f"{path} may be kept")
        shown = page.locator("section[aria-label='Shown this once'] code").inner_text()
        failures.expect(shown.startswith(start), what, f"{path} shows none")
        failures.expect(start not in page.url, what, f"{path} has it in its address")
        for violation in axe.run(page, options=AXE).response["violations"]:
            failures.add(what, f"axe {violation['id']}: {violation['help']} at {path}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        failures.expect(wide <= 0, what, f"{path} is {wide} px wider than the screen")
        # The form comes again, and makes nothing.
        again = context.request.post(
            origin + path, headers={"Sec-Fetch-Site": "same-origin"},
            form=dict(urllib.parse.parse_qsl(answer.request.post_data, keep_blank_values=True)))
        failures.expect(again.status == 409 and shown not in again.text(), what, f"{path} is answered {again.status} again")
        page.goto(origin + path)
        failures.expect(shown not in page.content(), what, f"{path} lists it")
    context.close()


# MARK: What is refused

def ask(port, method, path, fields, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in fields.items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


FORM = "application/x-www-form-urlencoded"


def refuse(browser, origin, port, options, failures):
    here = f"127.0.0.1:{port}"
    reader, keeper = browser.new_context(), browser.new_context()
    reading = link(options, port, "Rea", "--read-only")
    sign_in(reader, reading)
    sign_in(keeper, link(options, port, "Kim", "--tenant", "many"))

    # A link is good once.
    page = reader.new_page()
    page.goto(f"{origin}/login")
    again = browser.new_context().new_page()
    again.goto(reading)
    again.wait_for_load_state()
    failures.expect("was used already" in again.locator("main").inner_text(), "used link", "it signs in again")

    # A name that leads here by another's DNS.
    for host in ("evil.example.com", f"evil.example.com:{port}", f"{here}.evil.example.com", "localhost.evil.example.com"):
        status = ask(port, "GET", "/", {"Host": host}).status
        failures.expect(status == 421, "rebound host", f"{host} is answered {status}")

    # Another origin of the same site, in the browser that has the cookie.
    cookie = "; ".join(f"{c['name']}={c['value']}" for c in keeper.cookies())
    form = "name=Stolen&latitude=1&longitude=1&radius=100"
    path = "/t/many/places/p00009/edit"
    for fields in (
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:8882"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example.com"},
        {"Sec-Fetch-Site": "none"}, {"Origin": "http://127.0.0.1:8882"}, {"Origin": "null"}, {},
    ):
        status = ask(port, "POST", path, {"Host": here, "Cookie": cookie, "Content-Type": FORM, **fields}, form).status
        failures.expect(status == 403, "another origin", f"{fields} is answered {status}")
    same_site(keeper, origin, port, failures)

    # What may only be read, and another tenant's.
    own = {"Host": here, "Content-Type": FORM, "Sec-Fetch-Site": "same-origin"}
    read = "; ".join(f"{c['name']}={c['value']}" for c in reader.cookies())
    version = reader.new_page()
    version.goto(f"{origin}{path}?{form}")
    number = version.locator('input[name="version"]').get_attribute("value")
    status = ask(port, "POST", path, {**own, "Cookie": read}, f"{form}&version={number}").status
    failures.expect(status == 403, "read-only session", f"a change is answered {status}")
    for other in ("", "/places", "/places/restaurant_a", "/places/restaurant_a/edit", "/diagnose", "/problems", "/audit",
                  "/confirmations", "/find?q=restaurant_a", "/places.cells?bbox=-1,-1,1,1&z=2", "/deliveries",
                  "/retry?state=refused", "/images", "/import", "/appstore", "/appstore/com.example.MyApp.Clip", "/urls", "/domains",
                  "/domains/example.com", "/keys", "/webhooks"):
        status = ask(port, "GET", f"/t/restaurants{other}", {"Host": here, "Cookie": cookie}).status
        failures.expect(status == 404, "another tenant", f"{other} is answered {status}")
    for path in ("/places/restaurant_a/edit", "/keys", "/domains", "/domains/example.com/pages", "/webhooks"):
        status = ask(port, "POST", f"/t/restaurants{path}", {**own, "Cookie": cookie}, form).status
        failures.expect(status == 404, "another tenant", f"a change of {path} is answered {status}")
    for path in ("/tenants", "/tenants/many", "/status"):
        status = ask(port, "GET", path, {"Host": here, "Cookie": cookie}).status
        failures.expect(status == 404, "one tenant", f"{path} is answered {status}")

    # A proxy that is not named, and one that does not pass Host on.
    for fields in ({"X-Forwarded-For": "192.0.2.1"}, {"Forwarded": "for=192.0.2.1"}, {"Via": "1.1 proxy"}):
        status = ask(port, "GET", "/login", {"Host": here, **fields}).status
        failures.expect(status == 421, "unnamed proxy", f"{fields} is answered {status}")
    status = ask(port, "POST", "/login", {**own, "Origin": "https://console.example.com"}, "token=x").status
    failures.expect(status == 403, "proxy without Host", f"signing in is answered {status}")

    # A session that is over.
    late = browser.new_context()
    sign_in(late, link(options, port, "Eve"))
    page = late.new_page()
    page.goto(f"{origin}/")
    failures.expect(page.locator("h1").inner_text() == "Tenants", "session", "it has not begun")
    subprocess.run(
        ["psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--command",
         "UPDATE doorstep.console_sessions SET seen_at = seen_at - interval '61 minutes' WHERE name = 'Eve'",
         options.database], check=True)
    page.reload()
    failures.expect(page.locator("h1").inner_text() == "Sign in", "idle session", "it goes on")
    framing(browser, origin, port, failures)


def same_site(context, origin, port, failures):
    """A page of another port of this machine posts a form: the browser sends the cookie along."""
    elsewhere = "http://127.0.0.1:9/"
    page = context.new_page()
    markup = (f'<form method="post" action="{origin}/t/many/places/p00009/edit"><input name="name" value="Stolen">'
              '<input name="latitude" value="1"><input name="longitude" value="1"><input name="radius" value="1">'
              "<button>Go</button></form>")
    page.route(elsewhere, lambda route: route.fulfill(content_type="text/html", body=markup))
    page.goto(elsewhere)
    with page.expect_response(lambda response: response.url.startswith(origin)) as response:
        page.get_by_role("button").click()
    failures.expect(response.value.status == 403, "same-site form", f"it is answered {response.value.status}")
    page.close()


def framing(browser, origin, port, failures):
    elsewhere = "http://localhost:9/"
    page = browser.new_context().new_page()
    page.route(elsewhere, lambda route: route.fulfill(
        content_type="text/html", body=f'<iframe src="{origin}/login" title="x"></iframe>'))
    page.goto(elsewhere)
    page.wait_for_load_state("networkidle")
    frame = [f for f in page.frames if f != page.main_frame][0]
    failures.expect("Sign in" not in frame.content(), "framing", "another origin shows the console in a frame")


def measure(browser, origin, link, failures):
    """The design's budgets, as far as a browser tells them: weights as they are sent, and requests."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    sign_in(context, link)
    page = context.new_page()
    sizes = []
    page.on("response", lambda response: sizes.append(
        (response.url[len(origin):], int(response.headers.get("content-length", 0)))))
    start = time.monotonic()
    page.goto(f"{origin}/t/many/places")
    page.locator("#map-says:has-text('in view')").wait_for()
    elapsed = time.monotonic() - start
    page.wait_for_load_state("networkidle")
    bodies = {url: context.request.get(origin + url).body() for url, _ in sizes if "/console." in url}
    html, requests = sizes[0][1], len(sizes)
    total = sum(size for _, size in sizes)
    styles = sum(len(gzip.compress(bodies[url])) for url in bodies if url.endswith("/console.css"))
    scripts = sum(len(gzip.compress(bodies[url])) for url in bodies if url.endswith("/console.js"))
    sizes.clear()
    with page.expect_response(lambda response: "places.cells" in response.url):
        page.get_by_role("button", name="Zoom in").click()
    page.wait_for_load_state("networkidle")
    following = sum(size for _, size in sizes)
    print(f"console: the first view of many places takes {requests} requests, {total} bytes, {html} of them HTML; "
          f"{elapsed:.1f} s until the map tells how many are in view; the next view {following} bytes")
    failures.expect(html <= 60_000, "budget", f"HTML has {html} bytes")
    failures.expect(total <= 200_000, "budget", f"all has {total} bytes")
    failures.expect(requests <= 8, "budget", f"{requests} requests")
    failures.expect(following <= 20_000, "budget", f"the next view has {following} bytes")
    failures.expect(styles <= 10_000, "budget", f"the console's own style has {styles} bytes in gzip")
    failures.expect(scripts <= 20_000, "budget", f"the console's own scripts have {scripts} bytes in gzip")
    context.close()


def look(options):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    failures = Failures()
    screenshots = pathlib.Path(options.screenshots)
    origin = f"http://127.0.0.1:{options.port}"
    start = time.monotonic()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        # A link is good once, and the audit log has the names of those who walk.
        def person(name):
            return link(options, options.port, name)

        commands = {}
        count = look_at_pages(
            browser, origin, person("Cay"), screenshots, failures, Axe(), options.picture, commands)
        commands = parse_commands(commands, options.doorstep, options.scratch, failures)
        walk_without_scripts(browser, origin, person("Ben"), failures)
        walk_by_keys(browser, origin, person("Ada"), failures)
        measure(browser, origin, person("Dee"), failures)
        send_files(browser, origin, person("Fay"), failures)
        look_at_tiles(browser, link(options, options.tiles_port, "Gil"), failures)
        show_keys_once(browser, origin, person("Hal"), failures, Axe())
        refuse(browser, origin, options.port, options, failures)
        browser.close()
    if failures.found:
        sys.exit(f"console: {len(failures.found)} failures")
    print(f"console: {count} pages at {len(WIDTHS)} widths, light and dark, without a violation of WCAG 2.2 AA, a "
          f"message, another origin or horizontal scroll; {commands} commands that they print are read by the program; walked "
          f"by keys and without JavaScript; refusals hold ({time.monotonic() - start:.0f} s)")


def main():
    if sys.argv[1:2] == ["seed"]:
        return seed(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser()
    parser.add_argument("look")
    parser.add_argument("port", type=int)
    parser.add_argument("screenshots")
    parser.add_argument("--tiles-port", type=int, required=True)
    for name in ("database", "doorstep", "scratch"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--picture")
    look(parser.parse_args())


if __name__ == "__main__":
    main()
