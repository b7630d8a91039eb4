"""Sends valid and invalid bodies to the simulator of App Store Connect, and compares its verdict on their structure with a
validator of JSON Schema.

usage: appstore.py SIMULATOR_FILE SPECIFICATION COUNT SEED
"""

import copy
import http.client
import json
import pathlib
import random
import sys
import time
import urllib.parse

import jsonschema
import jwt

EXPERIENCES = "appClipAdvancedExperiences"
IMAGES = "appClipAdvancedExperienceImages"
WRONG_VALUES = [None, True, 7, 1.5, "wrong", "", [], {}, [1], {"wrong": 1}]


def closed(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


class Specification:
    """Apple's specification, as JSON Schema and as a source of valid bodies."""

    def __init__(self, path):
        self.json = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))

    def schema(self, shape):
        if isinstance(shape, str):
            if shape == "string:uri":
                return {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:"}
            return {"type": shape.split(":")[0]}
        if "type" in shape:
            made = self.schema(shape["type"])
        elif "enum" in shape:
            made = {"enum": self.json["enums"][shape["enum"]]}
        elif "values" in shape:
            made = {"enum": shape["values"]}
        elif "object" in shape:
            made = closed({key: self.schema(value) for key, value in self.json["objects"][shape["object"]].items()})
        elif "fields" in shape:
            made = closed({key: self.schema(value) for key, value in shape["fields"].items()})
        else:
            made = {"type": "array", "items": self.schema(shape["array"])}
        return {"anyOf": [made, {"type": "null"}]} if shape.get("nullable") else made

    def body_schema(self, kind, name, resource_id=None):
        shape = self.json["resources"][kind][name]
        relationships = {}
        for key, relationship in shape.get("relationships", {}).items():
            identifier = closed({"type": {"const": relationship["type"]}, "id": {"type": "string"}}, ["type", "id"])
            linkage = identifier if relationship["to"] == "one" else {"type": "array", "items": identifier}
            relationships[key] = closed({"data": linkage}, ["data"])
        data = {
            "type": {"const": kind}, "attributes": self.attributes_schema(shape),
            "relationships": closed(relationships, shape.get("relationshipsRequired", []))}
        required = ["type", *shape.get("required", [])]
        if resource_id:
            data["id"] = {"const": resource_id}
            required.append("id")
        document = {"data": closed(data, required)}
        if "included" in shape:
            inline = self.json["resources"][shape["included"]]["inline"]
            document["included"] = {"type": "array", "items": closed(
                {"type": {"const": shape["included"]}, "id": {"type": "string"},
                 "attributes": self.attributes_schema(inline)}, ["type"])}
        return closed(document, ["data"])

    def attributes_schema(self, shape):
        return closed(
            {key: self.schema(value) for key, value in shape["attributes"].items()}, shape.get("attributesRequired", []))

    def value(self, shape, chance):
        """A value of a structure."""
        if isinstance(shape, dict) and shape.get("nullable") and chance.random() < 0.1:
            return None
        if isinstance(shape, dict) and "type" in shape:
            shape = shape["type"]
        if isinstance(shape, str):
            return {
                "string:uri": f"https://example.com/{chance.randrange(1000)}", "string": chance.choice(["a", "é", "x y"]),
                "boolean": chance.random() < 0.5, "integer": chance.randrange(1, 1000), "number": chance.uniform(-90, 90),
            }[shape]
        if "enum" in shape:
            return chance.choice(self.json["enums"][shape["enum"]])
        if "values" in shape:
            return chance.choice(shape["values"])
        if "array" in shape:
            return [self.value(shape["array"], chance) for _ in range(chance.randrange(3))]
        fields = shape.get("fields") or self.json["objects"][shape["object"]]
        return {key: self.value(value, chance) for key, value in fields.items() if chance.random() < 0.7}

    def body(self, kind, name, resource_id, chance):
        """A body of the right structure; its values may be invalid."""
        shape = self.json["resources"][kind][name]

        def attributes(shape):
            required = shape.get("attributesRequired", [])
            return {key: self.value(value, chance) for key, value in shape["attributes"].items()
                    if key in required or chance.random() < 0.6}

        data = {"type": kind, "attributes": attributes(shape)}
        if resource_id:
            data["id"] = resource_id
        relationships = {}
        for key, relationship in shape.get("relationships", {}).items():
            if key not in shape.get("relationshipsRequired", []) and chance.random() < 0.5:
                continue
            identifiers = [{"type": relationship["type"], "id": f"${{{number}}}"} for number in range(2)]
            relationships[key] = {"data": identifiers[0] if relationship["to"] == "one" else identifiers}
        if relationships or "relationships" in shape.get("required", []):
            data["relationships"] = relationships
        document = {"data": data}
        if "included" in shape and chance.random() < 0.8:
            inline = self.json["resources"][shape["included"]]["inline"]
            document["included"] = [
                {"type": shape["included"], "id": f"${{{number}}}", "attributes": attributes(inline)}
                for number in range(chance.randrange(3))]
        return document


def places(value, path=()):
    """All members and elements in a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield path + (key,)
        yield from places(inner, path + (key,))


def spoiled(body, chance):
    """The body with one change, which may leave it valid."""
    body = copy.deepcopy(body)
    path = chance.choice(list(places(body)) or [()])
    if not path:
        return body
    parent = body
    for key in path[:-1]:
        parent = parent[key]
    match chance.randrange(3):
        case 0:
            del parent[path[-1]]
        case 1:
            parent[path[-1]] = copy.deepcopy(chance.choice(WRONG_VALUES))
        case _ if isinstance(parent, dict):
            parent[chance.choice(["wrong", "id", "link", "status", "included", "name", "type"])] = chance.choice(WRONG_VALUES)
        case _:
            parent.append(copy.deepcopy(chance.choice(WRONG_VALUES)))
    return body


class Simulator:
    def __init__(self, path):
        self.ready = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.api = http.client.HTTPConnection(urllib.parse.urlsplit(self.ready["server"]).netloc, timeout=60)
        self.control = http.client.HTTPConnection("127.0.0.1", self.ready["controlPort"], timeout=60)
        now = int(time.time())
        self.token = jwt.encode(
            {"sub": "user", "iat": now, "exp": now + 1200, "aud": "appstoreconnect-v1"},
            pathlib.Path(self.ready["keyFile"]).read_text(encoding="utf-8"), algorithm="ES256",
            headers={"kid": self.ready["keyID"]})

    def ask(self, connection, method, path, body=None):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None

    def attempts(self):
        return sum(self.ask(self.control, "GET", "/counters")[1]["attempts"].values())

    def codes(self, answer):
        return [error["code"] for error in (answer or {}).get("errors", [])]

    def reserve(self):
        status, answer = self.ask(self.api, "POST", f"/v1/{IMAGES}", {
            "data": {"type": IMAGES, "attributes": {"fileName": "a.png", "fileSize": 10}}})
        assert status == 201, answer
        return answer["data"]["id"]

    def frozen_experience(self, image):
        """An experience whose changes are refused only after the check of their structure."""
        local = {"type": "appClipAdvancedExperienceLocalizations", "id": "${EN}"}
        status, answer = self.ask(self.api, "POST", f"/v1/{EXPERIENCES}", {
            "data": {
                "type": EXPERIENCES,
                "attributes": {"link": "https://example.com/frozen", "defaultLanguage": "EN", "isPoweredBy": True},
                "relationships": {
                    "appClip": {"data": {"type": "appClips", "id": self.ready["clipID"]}},
                    "headerImage": {"data": {"type": IMAGES, "id": image}}, "localizations": {"data": [local]}}},
            "included": [{**local, "attributes": {"language": "EN"}}]})
        assert status == 201, answer
        status, _ = self.ask(self.control, "PATCH", f"/experiences/{answer['data']['id']}", {"frozen": True})
        assert status == 204
        return answer["data"]["id"]

    def takes(self, kind, name, resource_id, body):
        """Whether the simulator accepts the structure, even if it refuses the values."""
        before = self.attempts() if (kind, name) == (EXPERIENCES, "create") else 0
        path = f"/v1/{kind}" + (f"/{resource_id}" if resource_id else "")
        status, answer = self.ask(self.api, "PATCH" if resource_id else "POST", path, body)
        if (kind, name) == (EXPERIENCES, "create"):
            return self.attempts() > before, answer
        if (kind, name) == (EXPERIENCES, "update"):
            return self.codes(answer) == ["STATE_ERROR"], answer
        return status in (200, 201) or self.codes(answer) == ["ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE"], answer


def main():
    simulator_file, specification_file, count, seed = sys.argv[1:]
    specification = Specification(specification_file)
    simulator = Simulator(simulator_file)
    chance = random.Random(int(seed))
    image = simulator.reserve()
    experience = simulator.frozen_experience(image)
    kinds = [(EXPERIENCES, "create", None), (EXPERIENCES, "update", experience), (IMAGES, "create", None), (IMAGES, "update", image)]
    validators = {
        (kind, name): jsonschema.Draft202012Validator(specification.body_schema(kind, name, resource_id))
        for kind, name, resource_id in kinds}
    right = 0
    for number in range(int(count)):
        kind, name, resource_id = chance.choice(kinds)
        body = specification.body(kind, name, resource_id, chance)
        for _ in range(chance.randrange(3)):
            body = spoiled(body, chance)
        # Further rules of reservations are not about the structure.
        attributes = body["data"].get("attributes") if isinstance(body.get("data"), dict) else None
        if (kind, name) == (IMAGES, "create") and isinstance(attributes, dict) and attributes.get("fileName") == "":
            continue
        expected = validators[kind, name].is_valid(body)
        taken, answer = simulator.takes(kind, name, resource_id, body)
        right += expected
        if taken != expected:
            sys.exit(
                f"appstore: seed {seed}, body {number}: {name} of {kind} is {'right' if expected else 'wrong'} by the schema: "
                f"{json.dumps(body)}, but the simulator said {json.dumps(answer)}")
    if not 0 < right < int(count):
        sys.exit("appstore: the bodies are all right, or all wrong")
    print(f"appstore: {count} bodies, {right} of them of the right shape: simulator and jsonschema agree on each")


if __name__ == "__main__":
    main()
