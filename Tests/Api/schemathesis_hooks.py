"""What schemathesis does not know by itself: how a body of lines of JSON is written."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines_of_json(_, value) -> bytes:
    lines = value if isinstance(value, list) else [value]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
