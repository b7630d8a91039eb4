"""Requests that the console must refuse, over sockets and in a browser."""

import http.client
import subprocess

from console_browser import link, sign_in


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

    # A link works once.
    page = reader.new_page()
    page.goto(f"{origin}/login")
    again = browser.new_context().new_page()
    again.goto(reading)
    again.wait_for_load_state()
    failures.expect("was already used" in again.locator("main").inner_text(), "used link", "it signs in again")

    # A foreign name whose DNS record has this address.
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

    # Changes by a session that may only read, and another tenant's pages.
    own = {"Host": here, "Content-Type": FORM, "Sec-Fetch-Site": "same-origin"}
    read = "; ".join(f"{c['name']}={c['value']}" for c in reader.cookies())
    version = reader.new_page()
    version.goto(f"{origin}{path}?{form}")
    number = version.locator('input[name="version"]').first.get_attribute("value")
    status = ask(port, "POST", path, {**own, "Cookie": read}, f"{form}&version={number}").status
    failures.expect(status == 403, "read-only session", f"a change is answered {status}")
    for other in ("", "/places", "/places/restaurant_a", "/places/restaurant_a/edit", "/places/restaurant_a/delete", "/add/places",
                  "/clips", "/codes", "/codes/lunch/edit", "/diagnose", "/problems", "/audit",
                  "/confirmations", "/find?q=restaurant_a", "/places.cells?bbox=-1,-1,1,1&z=2", "/deliveries",
                  "/retry?state=refused", "/images", "/import", "/appstore", "/appstore/com.example.MyApp.Clip", "/urls", "/domains",
                  "/domains/example.com", "/keys", "/webhooks"):
        status = ask(port, "GET", f"/t/restaurants{other}", {"Host": here, "Cookie": cookie}).status
        failures.expect(status == 404, "another tenant", f"{other} is answered {status}")
    for path in ("/places/restaurant_a/edit", "/places/restaurant_a/delete", "/add/places", "/codes/lunch/delete", "/keys", "/domains", "/domains/example.com/pages", "/webhooks"):
        status = ask(port, "POST", f"/t/restaurants{path}", {**own, "Cookie": cookie}, form).status
        failures.expect(status == 404, "another tenant", f"a change of {path} is answered {status}")
    for path in ("/tenants", "/tenants/many", "/status"):
        status = ask(port, "GET", path, {"Host": here, "Cookie": cookie}).status
        failures.expect(status == 404, "one tenant", f"{path} is answered {status}")

    # An unknown proxy, and a proxy that does not forward Host.
    for fields in ({"X-Forwarded-For": "192.0.2.1"}, {"Forwarded": "for=192.0.2.1"}, {"Via": "1.1 proxy"}):
        status = ask(port, "GET", "/login", {"Host": here, **fields}).status
        failures.expect(status == 421, "unnamed proxy", f"{fields} is answered {status}")
    status = ask(port, "POST", "/login", {**own, "Origin": "https://console.example.com"}, "token=x").status
    failures.expect(status == 403, "proxy without Host", f"signing in is answered {status}")

    # An expired session.
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
