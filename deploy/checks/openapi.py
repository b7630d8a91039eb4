"""Writes the exact form of an OpenAPI document, against which Schemathesis checks each response.

The served document allows further members and values in responses, so that generated clients read those of later versions. It keeps
the exact keywords: `x-current` beside the keywords of a schema or as the schema of a media type, and `x-extensible-enum`.

usage: openapi.py [--self-test] [DOCUMENT RESULT]
"""

import json
import pathlib
import sys

DATA = ("example", "examples", "default", "const", "enum")


def exact(value):
    """A copy with all exact keywords in their places."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: member if key in DATA else exact(member) for key, member in value.items()}
    current = result.pop("x-current", {})
    if "schema" in result:
        result["schema"] = current or result["schema"]
    else:
        # null removes a keyword.
        result = {key: member for key, member in (result | current).items() if member is not None or key not in current}
    if values := result.pop("x-extensible-enum", None):
        # A property can have this name: its value is a schema, not a list.
        nullable = "null" in result.get("type", "")
        result["enum"] = [*values, None] if nullable else values
    return result


def count(value, key):
    if isinstance(value, list):
        return sum(count(item, key) for item in value)
    if not isinstance(value, dict):
        return 0
    return (key in value) + sum(count(member, key) for member in value.values())


def self_test():
    served = {
        "content": {"a": {"schema": {"$ref": "P"}, "x-current": {"allOf": [{"$ref": "P"}]}}},
        "S": {
            "properties": {"k": {"type": ["string", "null"], "x-extensible-enum": ["a"]}, "e": {"x-extensible-enum": ["b"]}},
            "x-current": {"additionalProperties": False, "type": None},
            "type": "object",
        },
    }
    expected = {
        "content": {"a": {"schema": {"allOf": [{"$ref": "P"}]}}},
        "S": {
            "properties": {"k": {"type": ["string", "null"], "enum": ["a", None]}, "e": {"enum": ["b"]}},
            "additionalProperties": False,
        },
    }
    assert exact(served) == expected, exact(served)


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return
    served, result = sys.argv[1:]
    document = exact(json.loads(pathlib.Path(served).read_text()))
    closed = count(document, "additionalProperties")
    if closed < 100:
        sys.exit(f"openapi: only {closed} schemas of the exact document say whether they are closed")
    pathlib.Path(result).write_text(json.dumps(document))


main()
