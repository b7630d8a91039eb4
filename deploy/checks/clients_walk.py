"""Uses the client that deploy/checks/clients generated.

usage: clients_walk.py SERVER KEY NAME
"""

import datetime
import http.server
import queue
import sys
import threading
import time
import uuid

import openapi_client as doorstep
import standardwebhooks

CLIP = "com.example.Walk.Clip"


def expect_equal(found, expected, subject):
    if found != expected:
        sys.exit(f"{subject}: {found!r}, not {expected!r}")


def expect_problem(call, status, code):
    try:
        call()
    except doorstep.ApiException as error:
        problem = error.data
        expect_equal((error.status, problem.code), (status, code), "the problem")
        expect_equal(problem.additional_properties["addedLater"], "x", "the further member")
    else:
        sys.exit(f"no problem {code}")


class Receiver(http.server.BaseHTTPRequestHandler):
    messages = queue.Queue()

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.messages.put((body, dict(self.headers)))
        self.send_response(204)
        self.end_headers()


def verify_webhook(api):
    """The generated pattern of a webhook's URL allows ports of up to four digits."""
    for port in range(8100, 9999):
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
            break
        except OSError:
            continue
    threading.Thread(target=server.serve_forever, daemon=True).start()
    webhooks = doorstep.WebhooksApi(api)
    created = webhooks.create_webhook(doorstep.WebhookCreation(url=f"http://127.0.0.1:{port}/hook"))
    webhooks.test_webhook(created.id)
    body, headers = Receiver.messages.get(timeout=30)
    message = standardwebhooks.Webhook(created.secret).verify(body, {name.lower(): value for name, value in headers.items()})
    expect_equal(message["type"], "doorstep.test", "the webhook's event")
    webhooks.delete_webhook(created.id)
    server.shutdown()


def main():
    server, key, name = sys.argv[1:]
    api = doorstep.ApiClient(doorstep.Configuration(host=server, access_token=key))
    locations, lookups = doorstep.LocationsApi(api), doorstep.LookupsApi(api)
    url = f"https://example.com/{name}"
    expect_problem(lambda: lookups.look_up_location(url), 404, "does_not_match")

    place = doorstep.LocationInput(name="First", latitude=37.33, longitude=-122, radius=100)
    locations.put_location(name, place, if_none_match="*")
    changed = locations.patch_location(name, doorstep.LocationPatch(name="Branch"))
    expect_equal(changed.name, "Branch", "the name")
    doorstep.ExperiencesApi(api).create_experience(doorstep.ExperienceCreation(url=url, clip=CLIP, location=name))
    expect_equal(lookups.look_up_location(url).location.name, "Branch", "the location")

    table = f"identifier,name,latitude,longitude,radius\n{name}-2,Second,37.34,-122,100\n"
    for dry_run in (True, False):
        plan = locations.merge_locations(table, dry_run=dry_run, _content_type="text/csv")
        expect_equal(plan.added, 1, "the locations that are added")

    instance = uuid.uuid4()
    launch = doorstep.LaunchReport(
        url=url, environment="sandbox", permission="authorized", token="ab" * 32,
        launched_at=datetime.datetime.now(datetime.timezone.utc),
    )  # fmt: skip
    doorstep.InstancesApi(api).register_instance(instance, launch)

    notifications = doorstep.NotificationsApi(api)
    aps = doorstep.APS(alert=doorstep.Alert(title="Order", body="It is ready."))
    submission = doorstep.NotificationSubmission(
        url=url, aps=aps, audience=doorstep.Audience(instance=str(instance))
    )
    sent = notifications.send_notification(submission)
    for _ in range(100):
        trace = notifications.get_notification(str(sent.id))
        if trace.deliveries[0].answers:
            break
        time.sleep(0.1)
    expect_equal(trace.deliveries[0].answers[0].status, 200, "the response of APNs")
    expect_equal(trace.deliveries[0].state, "added_later", "the state, which the proxy changes")
    verify_webhook(api)
    print(f"{sent.id} was delivered and the webhook is verified")


main()
