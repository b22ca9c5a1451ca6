"""Sends a request of each operation of the API's document as each kind of caller, and compares who is let in with what
the document says (`x-roles`). The requests are otherwise of no use: what they name is not there."""

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass

from stage import APP, GUARDED_APP, USER_TOKEN_SECRET, Serve, Stage
from wire import ask

USER = "rights-user"
VALUES = {
    "app": APP, "network": "fcm", "token": "rights-token", "user": USER, "topic": "rights", "bucket": "rights",
    "entry": "1-1", "id": "rights-none", "name": "rights-none",
}


@dataclass
class Caller:
    name: str
    # Nil for nobody who is known.
    role: str | None
    key: str | None
    app: str | None = None


def user_token(user: str, app: str) -> str:
    def part(data: bytes) -> bytes:
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    claims = {"sub": user, "aud": app, "exp": int(time.time()) + 600}
    message = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
    return (message + b"." + part(hmac.new(USER_TOKEN_SECRET, message, hashlib.sha256).digest())).decode()


def callers(stage: Stage) -> list[Caller]:
    known = [
        Caller("a backend", "server", stage.key("server", APP)[1], APP),
        Caller("a backend of another app", "server", stage.key("server", GUARDED_APP)[1], GUARDED_APP),
        Caller("a phone", "device", user_token(USER, APP), APP),
    ]
    known += [Caller(f"a key of {role}", role, stage.key(role)[1])
              for role in ("operator-look", "operator-act", "admin")]
    unknown = "pp_admin_" + "a" * 12 + "_" + "A" * 43
    forged = user_token(USER, APP)[:-6] + "AAAAAA"
    return known + [
        Caller("nobody", None, None), Caller("an unknown key", None, unknown), Caller("a forged token", None, forged)]


def wanted(caller: Caller, path: str, roles: list[str]) -> str:
    """The statuses that are right, as words for people: those that let in are all others than 401 and 403."""
    if caller.role is None:
        return "401"
    if "{app}" in path and caller.app not in (None, APP):
        return "404"
    if "{app}" not in path and caller.app is not None:
        return "403"
    return "let in" if caller.role in roles else "403"


def rights(stage: Stage, serve: Serve, document: dict) -> list[str]:
    problems, count = [], 0
    everybody = callers(stage)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if not operation.get("security"):
                continue
            if "text/event-stream" in json.dumps(operation["responses"]):
                continue
            filled = path
            for name, value in VALUES.items():
                filled = filled.replace("{" + name + "}", value)
            for number, caller in enumerate(everybody):
                count += 1
                # An address for each, so that nobody is held back for guessing.
                source = f"127.0.{10 + number}.{1 + count % 250}"
                status = ask(serve.port, method.upper(), filled, caller.key, source=source).status
                right = wanted(caller, path, operation.get("x-roles", []))
                is_right = status not in (401, 403, 429) if right == "let in" else str(status) == right
                if not is_right:
                    problems.append(f"{method.upper()} {path} as {caller.name}: {status}, and not {right}")
    for method, path in (("GET", f"/v1/apps/{APP}/users/another/installations"),
                         ("PUT", f"/v1/apps/{APP}/topics/rights/users/another")):
        status = ask(serve.port, method, path, user_token(USER, APP)).status
        if status != 403:
            problems.append(f"{method} {path} as a phone of another user: {status}, and not 403")
    print(f"rights: {count:,} requests as {len(everybody)} callers, {len(problems)} problems")
    return problems
