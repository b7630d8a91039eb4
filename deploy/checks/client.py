"""Creates, uses, changes and deletes a catalogue with the client that deploy/checks/client generated.

usage: client.py SERVER KEY-FILE
"""

import pathlib
import sys

from doorstep_client import AuthenticatedClient
from doorstep_client.api.app_clips import delete_clip, get_clip, put_clip
from doorstep_client.api.confirmations import confirm_location
from doorstep_client.api.experiences import create_experience, list_experiences
from doorstep_client.api.locations import delete_location, get_location, list_locations, patch_location, put_location
from doorstep_client.api.lookups import look_up_location
from doorstep_client.api.short_codes import delete_short_code, put_short_code
from doorstep_client.models import (
    ClipInput,
    ConfirmationRequest,
    ConfirmationRequestLocationAccess,
    InvocationSource,
    Coordinate,
    ExperienceCreation,
    LocationInput,
    LocationPatch,
    ShortCodeInput,
)

BUNDLE_ID = "com.example.Walk.Clip"


def expect(answer, status, what):
    """The response as the client's type, after a check of its status."""
    if answer.status_code != status:
        sys.exit(f"client: {what}: status {answer.status_code}, not {status}: {answer.content.decode()}")
    return answer.parsed


def expect_equal(found, expected, what):
    if found != expected:
        sys.exit(f"client: {what}: {found!r}, not {expected!r}")


def build(client):
    made = expect(put_clip.sync_detailed(BUNDLE_ID, client=client, body=ClipInput(team_id="ABCDE12345")), 201, "a clip")
    expect_equal(made.parent_bundle_id, "com.example.Walk", "the clip's app")
    for number in (1, 2):
        place = LocationInput(name=f"Branch {number}", latitude=37.33 + number / 100, longitude=-122, radius=100)
        expect(
            put_location.sync_detailed(f"b/{number}", client=client, body=place, if_none_match="*"), 201, "a location"
        )
    experience = ExperienceCreation(
        url="https://example.com/branches", clip=BUNDLE_ID, identifier_rule="query:branch"
    )
    expect(create_experience.sync_detailed(client=client, body=experience), 201, "an experience")
    bound = ExperienceCreation(url="https://example.com/first", clip=BUNDLE_ID, location="b/1")
    expect(create_experience.sync_detailed(client=client, body=bound), 201, "a bound experience")
    short = ExperienceCreation(url="https://example.com/s", clip=BUNDLE_ID, identifier_rule="hash:h")
    expect(create_experience.sync_detailed(client=client, body=short), 201, "an experience for short codes")
    code = ShortCodeInput(url="https://example.com/branches?branch=b/2")
    expect(put_short_code.sync_detailed("lunch", client=client, body=code), 201, "a short code")


def use(client):
    for url, identifier in [
        ("https://example.com/branches?branch=b/1", "b/1"),
        ("https://example.com/first", "b/1"),
        ("https://example.com/s?h=lunch", "b/2"),
    ]:
        found = expect(look_up_location.sync_detailed(client=client, url_query=url), 200, f"a lookup of {url}")
        expect_equal(found.location.identifier, identifier, f"where {url} leads")
    unknown = look_up_location.sync_detailed(client=client, url_query="https://example.com/branches?branch=b/3")
    expect_equal(expect(unknown, 404, "an unknown place").code, "unknown_identifier", "the refusal")

    request = ConfirmationRequest(
        url="https://example.com/first",
        source=InvocationSource.NFC,
        location_access=ConfirmationRequestLocationAccess.ALLOWED,
        coordinate=Coordinate(latitude=37.34, longitude=-122, horizontal_accuracy=10),
    )
    confirmation = expect(confirm_location.sync_detailed(client=client, body=request), 200, "a confirmation")
    expect_equal(confirmation.outcome, "inRegion", "the outcome")


def walk_pages(client):
    names, after = [], None
    while True:
        rest = {"after": after} if after else {}
        page = expect(list_locations.sync_detailed(client=client, limit=1, **rest), 200, "a page")
        names += [place.identifier for place in page.data]
        if page.next_ is None:
            break
        after = page.next_
    expect_equal(names, ["b/1", "b/2"], "the locations")
    bound = expect(list_experiences.sync_detailed(client=client, location="b/1"), 200, "a list by location")
    expect_equal([item.url for item in bound.data], ["https://example.com/first"], "what is bound to it")


def change(client):
    read = get_location.sync_detailed("b/1", client=client)
    expect(read, 200, "a location")
    patch = LocationPatch(name="First Branch")
    arguments = {"client": client, "body": patch, "if_match": read.headers["ETag"]}
    changed = expect(patch_location.sync_detailed("b/1", **arguments), 200, "a change of what was read")
    expect_equal(changed.name, "First Branch", "the name")
    late = expect(patch_location.sync_detailed("b/1", **arguments), 412, "a change of what is no longer so")
    expect_equal(late.code, "precondition_failed", "the refusal")
    url = "https://example.com/first"
    found = expect(look_up_location.sync_detailed(client=client, url_query=url), 200, "a lookup after the change")
    expect_equal(found.location.name, "First Branch", "the name that is looked up")


def take_down(client):
    refusal = expect(delete_location.sync_detailed("b/1", client=client), 409, "a deletion of what is in use")
    expect_equal(refusal.code, "in_use", "the refusal")
    expect_equal(refusal.additional_properties["by"][0]["rows"], 1, "how much refers to it")
    expect(delete_location.sync_detailed("b/1", client=client, cascade=True), 204, "a deletion by cascade")
    gone = look_up_location.sync_detailed(client=client, url_query="https://example.com/first")
    expect_equal(expect(gone, 404, "a lookup of what is gone").code, "does_not_match", "the refusal")
    expect(delete_short_code.sync_detailed("lunch", client=client), 204, "a deletion of a short code")
    expect(delete_clip.sync_detailed(BUNDLE_ID, client=client), 409, "a deletion of a clip in use")
    expect(delete_clip.sync_detailed(BUNDLE_ID, client=client, cascade=True), 204, "a deletion of a clip by cascade")
    expect(get_clip.sync_detailed(BUNDLE_ID, client=client), 404, "the clip afterwards")
    left = expect(list_experiences.sync_detailed(client=client), 200, "the experiences afterwards")
    expect_equal(left.data, [], "the experiences that are left")


def main():
    server, key_file = sys.argv[1:]
    key = pathlib.Path(key_file).read_text().strip()
    with AuthenticatedClient(base_url=server, token=key, raise_on_unexpected_status=True) as client:
        for step in (build, use, walk_pages, change, take_down):
            step(client)
    print("client: a generated client builds, uses, changes and takes down a catalogue")


main()
