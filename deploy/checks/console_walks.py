"""Tasks of a person in the console, step by step, for deploy/checks/console."""

import gzip
import time
import urllib.parse

from console_browser import sign_in, violations, watch, wider_than_screen
from console_pages import ROWS
from console_seed import picture


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
    """Waits until a page is loaded and painted: Chromium ignores keys that are pressed earlier."""
    page.wait_for_url(pattern)
    page.evaluate("() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")


def arrive_at(page, heading):
    """Waits until a page with this heading is loaded and painted, also if its address is that of the page before."""
    page.get_by_role("heading", level=1, name=heading).wait_for()
    arrive(page, "**")


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
    page.goto(f"{origin}/t/many/places")
    page.keyboard.press("Control+k")
    failures.expect(focus_of(page) == "find", what, "Ctrl+K does not lead to the box that finds")
    page.keyboard.type("p00005")
    page.keyboard.press("Enter")
    arrive(page, "**/places/p00005")
    page.keyboard.press("e")
    arrive(page, "**/places/p00005/edit")
    tab_to(page, "name", failures, what)
    page.keyboard.press("Control+a")
    page.keyboard.type("Renamed by keys")
    # A typed letter is no shortcut.
    failures.expect(page.url.endswith("/edit"), what, "a letter in a field leads elsewhere")
    tab_to(page, "Review changes", failures, what)
    page.keyboard.press("Enter")
    arrive_at(page, "Review")
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
    """The same with a pasted link."""
    what = "without JavaScript"
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700})
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    page.goto(f"{origin}/")
    page.get_by_label("Link, or its token (the part after #)").fill(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
    page.goto(f"{origin}/t/many/places")
    page.get_by_label("Find a location, or paste a URL").fill("p00006")
    page.get_by_role("button", name="Find").click()
    page.wait_for_url("**/places/p00006")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Name").fill("Renamed without scripts")
    page.get_by_label("Latitude").fill("52.5")
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("heading", level=1, name="Review").wait_for()
    failures.expect("The location moves" in page.locator("main").inner_text(), what, "no distance is shown")
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
    page.get_by_role("button", name="Review rows").click()
    page.wait_for_url("**/import/*")
    failures.expect("Moved more than 500 m" in page.locator("main").inner_text(), what, "no distance is shown")
    page.get_by_role("button", name="Import this file").click()
    page.wait_for_url("**/import?added=1*")
    failures.expect("1 changed" in page.locator("main").inner_text(), what, "nothing is said of the import")
    page.goto(f"{origin}/t/restaurants/retry?state=refused&reason=InternalServerError")
    page.get_by_role("button", name="Retry").click()
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
    """Requests of the console's script: an image, and rows."""
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
    page.set_input_files("#file", files=[{"name": "locations.csv", "mimeType": "text/csv", "buffer": rows}])
    page.get_by_role("button", name="Review file").click()
    page.wait_for_url("**/import/*")
    failures.expect("Moved more than 500 m" in page.locator("main").inner_text(), what, "no distance is shown")
    context.close()


def look_at_tiles(browser, link, failures):
    """With a foreign tile server, a page sends requests for tiles to it, and no other foreign request."""
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


def look_at_missing_tiles(browser, link, failures):
    """With an unreachable tile server, the map shows land and a message."""
    from playwright.sync_api import expect

    what = "missing tiles"
    origin = link.split("/login")[0]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    sign_in(context, link)
    page = context.new_page()
    page.route("https://tiles.example.com/**", lambda route: route.abort())
    with page.expect_response(lambda response: response.url.endswith("world.json")) as land:
        page.goto(f"{origin}/t/many/places")
    failures.expect(land.value.ok, what, "land is not loaded")
    expect(page.locator(".leaflet-control-attribution")).to_contain_text("The tile server does not respond", timeout=20_000)
    context.close()


def area(numbers, scale):
    """The signed area of a ring of world.json, in square degrees: negative for land, positive for a hole in it."""
    points, x, y = [], 0, 0
    for dx, dy in zip(numbers[::2], numbers[1::2]):
        x, y = x + dx, y + dy
        points.append((x / scale, y / scale))
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1])) / 2


def edit_on_map(browser, origin, link, failures):
    """List and map agree; form, markers and review map agree; a link works in the sign-in page's own tab."""
    from playwright.sync_api import expect

    what = "map"
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    # The sign-in returns to the page that was wanted first, also in another tab.
    page.goto(f"{origin}/t/restaurants/places")
    page.wait_for_url(f"{origin}/login?next=*")
    page.goto(f"{origin}/login")
    # The body of a response is lost with its page: it is read before the next navigation.
    with page.expect_response(lambda response: response.url.endswith("world.json")) as loaded:
        page.goto(link)
    world = loaded.value.json()
    page.wait_for_url(f"{origin}/t/restaurants/places")

    holes = [area(ring, world["scale"]) for ring in world["land"] if area(ring, world["scale"]) > 0]
    failures.expect(min(holes, default=1) > 0.02, what, f"the basemap has {sum(hole < 0.02 for hole in holes)} slivers")
    failures.expect(len(world["borders"]) > 300, what, f"the basemap has {len(world['borders'])} borders")
    count = page.locator("main .row").count()
    expect(page.locator("#map-says")).to_have_text(f"{count} locations in view.", timeout=20_000)

    page.goto(f"{origin}/t/restaurants/places/restaurant_a/edit")
    latitude, longitude, radius = (page.get_by_label(name, exact=True) for name in ("Latitude", "Longitude", "Radius"))
    before = latitude.input_value(), longitude.input_value()
    centre = page.locator(".handle.centre").bounding_box()
    page.mouse.move(centre["x"] + 12, centre["y"] + 12)
    page.mouse.down()
    page.mouse.move(centre["x"] + 60, centre["y"] + 40, steps=5)
    page.mouse.up()
    failures.expect(before[0] != latitude.input_value() and before[1] != longitude.input_value(), what,
                    "the fields do not follow the marker")
    edge = page.locator(".handle.edge").bounding_box()
    old = radius.input_value()
    page.mouse.move(edge["x"] + edge["width"] / 2, edge["y"] + edge["height"] / 2)
    page.mouse.down()
    page.mouse.move(edge["x"] + 40, edge["y"] + edge["height"] / 2, steps=5)
    page.mouse.up()
    failures.expect(float(radius.input_value()) > float(old), what, "the radius does not follow the edge")
    radius.fill("120")
    expect(page.locator("#map-says")).to_contain_text("radius 120 m")
    latitude.fill("51.5142, -0.1312")
    failures.expect((latitude.input_value(), longitude.input_value()) == ("51.5142", "-0.1312"), what,
                    "a pasted pair does not fill both fields")
    page.get_by_role("button", name="Review changes").click()
    arrive_at(page, "Review")
    expect(page.locator("#map-says")).to_contain_text("radius 120 m")
    failures.expect("51.5142" in page.locator("main").inner_text(), what, "the review does not show the new latitude")
    for violation in violations(page):
        failures.add(what, f"review: {violation}")
    context.close()


def add_change_undo_delete(browser, origin, link, failures):
    """A new location by a click on the map, its URL with a card, an undone change, a deletion, and the location again."""
    from playwright.sync_api import expect

    what = "add, change, undo, delete"
    status = [200]
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what, lambda: status[0])

    def click(role, name):
        page.get_by_role(role, name=name, exact=True).first.click()

    def look(heading):
        arrive_at(page, heading)
        for violation in violations(page):
            failures.add(what, f"{heading}: {violation}")

    page.goto(f"{origin}/t/many/places")
    click("link", "Add a location")
    look("Add a location")
    page.get_by_label("Identifier", exact=True).fill("kiosk-1")
    page.get_by_label("Name", exact=True).fill("Kiosk 1")
    expect(page.locator("#map-says")).to_have_text("Click the map to set the centre.", timeout=20_000)
    page.locator(".map").click()
    failures.expect(page.get_by_label("Radius", exact=True).input_value() == "100", what, "a click does not fill the fields")
    expect(page.locator("#map-says")).to_contain_text("Radius 100 m.")
    page.get_by_label("Details", exact=True).fill("Floor: 2\nDoor: North")
    click("button", "Add the location")
    look("Kiosk 1")
    failures.expect("Floor" in page.locator("main").inner_text(), what, "the details are missing")

    click("link", "Add an experience")
    look("Add an experience")
    failures.expect(page.get_by_label("Location", exact=True).input_value() == "kiosk-1", what, "the location is not filled in")
    page.get_by_label("URL", exact=True).fill("http://city.example.com/kiosk-1")
    status[0] = 422
    click("button", "Add the experience")
    expect(page.locator("#url-error")).to_be_visible()
    status[0] = 200
    page.get_by_label("URL", exact=True).fill("https://city.example.com/kiosk-1")
    page.get_by_label("Title", exact=True).fill("Kiosk")
    page.get_by_label("Card: button", exact=True).select_option("VIEW")
    click("button", "Add the experience")
    look("https://city.example.com/kiosk-1")
    expect(page.locator(".qr")).to_be_visible()

    page.goto(f"{origin}/t/many/places/kiosk-1/edit")
    page.get_by_label("Name", exact=True).fill("Wrong name")
    page.get_by_label("Details", exact=True).fill("Floor: 3")
    click("button", "Review changes")
    look("Review")
    click("button", "Save")
    look("Wrong name")
    page.get_by_role("link", name="Restore the earlier values").first.click()
    look("Review")
    click("button", "Save")
    look("Kiosk 1")
    failures.expect("North" in page.locator("main").inner_text(), what, "the undo does not restore the details")

    click("link", "Delete")
    look("Delete Kiosk 1?")
    status[0] = 409
    click("button", "Delete the location")
    expect(page.get_by_role("alert")).to_contain_text("1 experience")
    status[0] = 200
    click("button", "Delete the location and all these items")
    look("Locations")
    failures.expect("Deleted." in page.locator("main").inner_text(), what, "nothing is said of the deletion")
    page.goto(f"{origin}/t/many/audit?relation=locations")
    page.get_by_role("link", name="Add it again").first.click()
    look("Add a location")
    failures.expect(page.get_by_label("Identifier", exact=True).input_value() == "kiosk-1", what, "the form is not filled in")
    click("button", "Add the location")
    look("Kiosk 1")
    context.close()


def show_keys_once(browser, origin, link, failures):
    """A new key and a webhook's secret are shown once, in the page after the form, and in no address."""
    what = "shown once"
    context = browser.new_context(viewport={"width": 320, "height": 800}, reduced_motion="reduce")
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what)
    for path, fill, button, start in (
        ("/t/restaurants/keys", lambda: page.get_by_label("Kind", exact=True).select_option("secret"),
         "Create and show the key once", "dsk_"),
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
        shown = page.locator("section[aria-label='Shown once'] code").inner_text()
        failures.expect(shown.startswith(start), what, f"{path} shows none")
        failures.expect(start not in page.url, what, f"{path} has it in its address")
        for violation in violations(page):
            failures.add(what, f"{path}: {violation}")
        wide = wider_than_screen(page)
        failures.expect(wide <= 0, what, f"{path} is {wide} px wider than the screen")
        # A repeated form creates nothing.
        again = context.request.post(
            origin + path, headers={"Sec-Fetch-Site": "same-origin"},
            form=dict(urllib.parse.parse_qsl(answer.request.post_data, keep_blank_values=True)))
        failures.expect(again.status == 409 and shown not in again.text(), what, f"{path} is answered {again.status} again")
        page.goto(origin + path)
        failures.expect(shown not in page.content(), what, f"{path} lists it")
    context.close()


def keep_form(browser, origin, link, again, failures):
    """A form that is sent after its session has ended is sent again after a sign-in in the same tab."""
    what = "kept form"
    context = browser.new_context(viewport={"width": 320, "height": 800}, reduced_motion="reduce")
    sign_in(context, link)
    page = context.new_page()
    status = 200
    watch(page, origin, failures, lambda: what, lambda: status)

    def look(title):
        page.get_by_role("heading", name=title).wait_for()
        for violation in violations(page):
            failures.add(what, f"{title}: {violation}")
        wide = wider_than_screen(page)
        failures.expect(wide <= 0, what, f"{title} is {wide} px wider than the screen")

    page.goto(f"{origin}/t/restaurants/keys")
    page.get_by_label("Name", exact=True).fill("Kept <key>")
    context.clear_cookies()
    status = 403
    page.get_by_role("button", name="Create and show the key once").click()
    look("Sign in")
    status = 200
    failures.expect("Your session has ended" in page.locator("main").inner_text(), what, "the page does not say why")
    # The person pastes the link into the field of this tab.
    page.get_by_label("Link, or its token (the part after #)").fill(again)
    page.get_by_role("button", name="Sign in").click()
    look("Send your form again?")
    page.get_by_role("button", name="Send it again").click()
    page.locator("section[aria-label='Shown once'] code").wait_for()
    page.goto(f"{origin}/t/restaurants/keys")
    failures.expect("Kept <key>" in page.locator("main").inner_text(), what, "the key is not created")
    context.close()


def ask_first(browser, origin, link, other, failures):
    """Actions that need a form: a link of another person, and a request to a tenant's site."""
    what = "asks first"
    context = browser.new_context(viewport={"width": 320, "height": 800}, reduced_motion="reduce")
    sign_in(context, link)
    page = context.new_page()
    watch(page, origin, failures, lambda: what)

    def look(title):
        failures.expect(page.locator("h1").inner_text() == title, what, f"the page is {page.locator('h1').inner_text()!r}")
        for violation in violations(page):
            failures.add(what, f"{title}: {violation}")
        wide = wider_than_screen(page)
        failures.expect(wide <= 0, what, f"{title} is {wide} px wider than the screen")

    page.goto(f"{origin}/t/restaurants/diagnose?url=https%3A%2F%2Fexample.com%2Frestaurants&live=1")
    with page.expect_response(lambda response: response.request.method == "POST") as response:
        page.get_by_role("button", name="Check the live site, too").click()
    page.wait_for_load_state()
    failures.expect(response.value.status == 200, what, f"the site is asked by {response.value.status}")
    look("Diagnose")
    for button, name in (("Stay signed in as", "Ida"), ("Continue as", "Jo")):
        page.goto("about:blank")
        page.goto(other)
        page.get_by_role("heading", name="Continue as another person?").wait_for()
        failures.expect("#" not in page.url, what, "the link stays in the address bar")
        look("Continue as another person?")
        role = "link" if button.startswith("Stay") else "button"
        page.get_by_role(role, name=f"{button} {name}").click()
        page.wait_for_url("**/")
        failures.expect(name in page.locator("header").inner_text(), what, f"{name} is not signed in")
    context.close()


def measure(browser, origin, link, failures):
    """The budgets of the design: transferred bytes and requests."""
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
