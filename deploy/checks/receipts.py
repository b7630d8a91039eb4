"""Verifies a receipt as an ordering system does, and tries receipts that such a system must refuse.

usage: receipts.py ADDRESS KEY_FILE TENANTS
"""

import base64
import json
import pathlib
import sys
import unittest.mock
import urllib.request
from datetime import datetime, timedelta, timezone

import jwt

ISSUER = "https://doorstep.example"


def verify(receipt, keys, tenant, issuer=ISSUER):
    """Returns the claims of a receipt; raises jwt.InvalidTokenError for an invalid one."""
    return jwt.decode(
        receipt, keys.get_signing_key_from_jwt(receipt).key, algorithms=["ES256"], issuer=issuer, audience=tenant,
        options={"require": ["exp", "iat", "iss", "aud", "sub", "jti"]})


def is_there(claims, location, evidence=("device", "coordinate")):
    """Whether the claims state with certainty, and by accepted evidence, that the person was at the location."""
    return (claims["outcome"] == "inRegion" and claims["location"] == location
            and claims.get("evidence") in evidence and claims.get("certain") is True)


def verify_later(seconds, *arguments):
    """Verifies a receipt with a clock in the future."""
    with unittest.mock.patch("jwt.api_jwt.datetime") as clock:
        clock.now.return_value = datetime.now(timezone.utc) + timedelta(seconds=seconds)
        return verify(*arguments)


def confirm(address, key, **evidence):
    body = {"url": "https://example.com/restaurants/restaurant_a/order/1234", **evidence}
    request = urllib.request.Request(
        address + "/v1/confirmations", json.dumps(body).encode(),
        {"Authorization": "Bearer " + key, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["receipt"]


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def main(address, key_file, tenants):
    keys = jwt.PyJWKClient(address + "/.well-known/jwks.json")
    tenants = {tenant["slug"]: tenant["id"] for tenant in json.loads(pathlib.Path(tenants).read_text())}
    tenant = tenants["restaurants"]
    key = pathlib.Path(key_file).read_text().strip()
    place = {"latitude": 37.33475, "longitude": -122.0089}
    receipt = confirm(address, key, coordinate=place)
    header, _, signature = receipt.split(".")

    claims = verify(receipt, keys, tenant)
    assert is_there(claims, "restaurant_a") and claims["sub"] == tenant, claims
    assert not is_there(claims, "restaurant_b"), claims
    assert claims["exp"] - claims["iat"] == 600, claims
    verify_later(540, receipt, keys, tenant)
    print("receipts: PyJWT accepts", json.dumps(claims))

    said = verify(confirm(address, key, deviceResult={"inRegion": True}), keys, tenant)
    assert is_there(said, "restaurant_a") and not is_there(said, "restaurant_a", evidence=("coordinate",)), said
    vague = verify(confirm(address, key, coordinate={**place, "horizontalAccuracy": 500}), keys, tenant)
    nothing = verify(confirm(address, key), keys, tenant)
    earlier = {name: value for name, value in claims.items() if name not in ("evidence", "certain")}
    for claim in vague, nothing, earlier:
        assert not is_there(claim, "restaurant_a"), claim
    print("receipts: device results and coordinates are distinguished, and uncertain or missing evidence is refused")

    other = next(identity for slug, identity in tenants.items() if slug != "restaurants")
    changed = {**claims, "location": "restaurant_b"}
    unsigned = encoded({**jwt.get_unverified_header(receipt), "alg": "none"})
    refusals = {
        "an expired one": (jwt.ExpiredSignatureError, lambda: verify_later(601, receipt, keys, tenant)),
        "another tenant's": (jwt.InvalidAudienceError, lambda: verify(receipt, keys, other)),
        "another issuer's": (jwt.InvalidIssuerError, lambda: verify(receipt, keys, tenant, "doorstep")),
        "a changed one": (
            jwt.InvalidSignatureError,
            lambda: verify(".".join([header, encoded(changed), signature]), keys, tenant)),
        "one without a signature": (
            jwt.InvalidAlgorithmError, lambda: verify(".".join([unsigned, encoded(claims), ""]), keys, tenant)),
        "one of another key": (
            jwt.PyJWKClientError,
            lambda: verify(".".join([encoded({"alg": "ES256", "kid": "x"}), encoded(claims), signature]), keys,
                           tenant)),
    }
    for name, (error, attempt) in refusals.items():
        try:
            attempt()
        except error as refusal:
            print(f"receipts: PyJWT refuses {name}: {refusal}")
        else:
            sys.exit(f"receipts: PyJWT accepts {name}")


main(*sys.argv[1:])
