#!/usr/bin/env python3
"""Brings faults about under load, and counts what a server told to its callers and what Redis has.

    Tests/Api/faults.py              all of them, some 80 s
    Tests/Api/faults.py killed       one of them: killed, away, hung, pair, revoked

Needs redis-server, nginx and openssl, and nothing from PyPI.
"""

import json
import signal
import sys
import time

from load import Load, Record
from stage import APP, Stage, StageError, main, wait_until
from wire import WireError, ask

INSTALLS_PER_SECOND = 5_000
# Fewer than this would show nothing of a load.
KEPT_MIN = 5_000
AWAY_SECONDS = 10
# Within this time of its return everything is well again.
RECOVERY_SECONDS = 10
# An answer while Redis is away: soon enough that callers and proxies do not give up first. A Redis that says nothing is
# waited for 5 s.
REFUSAL_SECONDS = 7
# A key that was revoked may be believed for 5 s more.
REVOKED_SECONDS = 7


def missing(stage: Stage, record: Record) -> list[str]:
    """The users whose install was answered with 2xx and is not in Redis."""
    found = stage.installed(APP, record.kept)
    return [user for user in record.kept if found[user] != [f"token-{user}"]]


def told(record: Record) -> str:
    return (
        f"{len(record.kept):,} answered with 2xx ({record.rate:,.0f} a second, p99 "
        f"{record.percentile_ms(0.99):.0f} ms), {len(record.unknown):,} without an answer, statuses "
        f"{dict(sorted(record.statuses.items()))}")


def lost(stage: Stage, what: str, record: Record, kept_min: int) -> list[str]:
    gone = missing(stage, record)
    print(f"{what}: {told(record)}, {len(gone)} lost")
    problems = []
    if gone:
        problems.append(f"{what}: {len(gone)} installs were answered with 2xx and are not in Redis: {gone[:5]}")
    if len(record.kept) < kept_min:
        problems.append(f"{what}: only {len(record.kept):,} installs were answered with 2xx: {told(record)}")
    return problems


def killed(stage: Stage) -> list[str]:
    """A server is killed in the middle of its work, and another is started."""
    _, key = stage.key("server", APP)
    serve = stage.serve("killed")
    load = Load(serve.port, APP, key, "killed")

    def again() -> None:
        serve.child.kill()
        serve.start()

    record = load.run(4, INSTALLS_PER_SECOND, [(2, again)])
    problems = lost(stage, "serve killed under load", record, KEPT_MIN)
    if not record.unknown:
        problems.append("serve killed under load: no install was under way, so this showed nothing")
    serve.child.stop()
    return problems


class Asking:
    """Asks a server again and again while Redis is away, and judges each answer."""

    def __init__(self, what: str, port: int, key: str):
        self.what = what
        self.port = port
        self.key = key
        self.problems: list[str] = []
        self.refused = 0
        self.slowest = 0.0

    def _ask(self, method: str, path: str, body: object = None):
        begun = time.monotonic()
        answer = ask(self.port, method, path, self.key, body, timeout=REFUSAL_SECONDS * 2)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        return answer

    def run(self, seconds: float, grace: float) -> None:
        end, begun, number = time.monotonic() + seconds, time.monotonic(), 0
        paths = [
            ("PUT", f"/v1/apps/{APP}/installations/fcm/token-away", {"user": "away"}),
            ("GET", f"/v1/apps/{APP}/users/away/installations", None),
            ("GET", f"/v1/apps/{APP}/jobs", None),
        ]
        while time.monotonic() < end and len(self.problems) < 10:
            method, path, body = paths[number % len(paths)]
            number += 1
            try:
                answer = self._ask(method, path, body)
                health = self._ask("GET", "/healthz")
                ready = self._ask("GET", "/readyz")
            except (OSError, WireError) as error:
                self.problems.append(f"{self.what}: {method} {path}: {type(error).__name__}: {error}")
                continue
            if health.status != 200:
                self.problems.append(f"{self.what}: /healthz says {health.status}; nobody should restart it for Redis")
            if answer.status == 503:
                self.refused += 1
                if not answer.headers.get("retry-after", "").isdigit():
                    self.problems.append(f"{self.what}: {method} {path}: 503 without a Retry-After in seconds")
                if not answer.headers.get("content-type", "").startswith("application/problem+json"):
                    self.problems.append(f"{self.what}: {method} {path}: 503 that is no problem document")
                elif "detail" not in json.loads(answer.body):
                    self.problems.append(f"{self.what}: {method} {path}: 503 without a detail")
            elif time.monotonic() - begun > grace:
                self.problems.append(f"{self.what}: {method} {path} was answered with {answer.status}")
            if ready.status != 503 and time.monotonic() - begun > grace:
                self.problems.append(f"{self.what}: /readyz says {ready.status}")
            time.sleep(0.05)
        if self.slowest > REFUSAL_SECONDS:
            self.problems.append(f"{self.what}: an answer took {self.slowest:.1f} s")
        if self.refused == 0:
            self.problems.append(f"{self.what}: nothing was refused, so this showed nothing")


def well_again(stage: Stage, what: str, serve, key: str) -> list[str]:
    path = f"/v1/apps/{APP}/installations/fcm/token-back-{what}"

    def holds() -> bool:
        answer = serve.try_to("PUT", path, key, {"user": "back"})
        return serve.is_ready and answer is not None and answer.status in (200, 201)

    begun = time.monotonic()
    try:
        wait_until("an install is taken again", holds, RECOVERY_SECONDS)
    except StageError as error:
        return [f"{what}: {error}"]
    print(f"{what}: well again {time.monotonic() - begun:.1f} s after Redis")
    return []


def unavailable(stage: Stage, what: str, leave, come_back) -> list[str]:
    _, key = stage.key("server", APP)
    serve = stage.serve(what)
    number = serve.child.process.pid
    # Answered while all is well, so the key is known and the connection to Redis stands.
    if serve.try_to("PUT", f"/v1/apps/{APP}/installations/fcm/token-before", key, {"user": "before"}).status >= 300:
        return [f"{what}: an install was refused before anything happened"]
    leave()
    asking = Asking(what, serve.port, key)
    # /readyz looks at Redis every 2 s at most.
    asking.run(AWAY_SECONDS, grace=4)
    come_back()
    print(f"{what} for {AWAY_SECONDS} s: {asking.refused} requests were refused, the slowest answer took "
          f"{asking.slowest * 1_000:.0f} ms")
    problems = asking.problems + well_again(stage, what, serve, key)
    if not serve.child.is_running or serve.child.process.pid != number:
        problems.append(f"{what}: serve has ended: {serve.child.end_of_log()}")
    serve.child.stop()
    return problems


def away(stage: Stage) -> list[str]:
    """Redis ends, and is started again on what it kept."""
    return unavailable(stage, "away", lambda: stage.redis.stop(), stage.start_redis)


def hung(stage: Stage) -> list[str]:
    """Redis answers nothing, though its connections stand."""
    return unavailable(
        stage, "hung", lambda: stage.redis.send(signal.SIGSTOP), lambda: stage.redis.send(signal.SIGCONT))


def pair(stage: Stage) -> list[str]:
    """Two servers behind nginx: one is killed and comes back, then each is restarted in turn."""
    _, key = stage.key("server", APP)
    first, second = stage.serve("first"), stage.serve("second")
    proxy = stage.nginx([first.port, second.port])
    load = Load(proxy.port, APP, key, "pair", connections=32, tls=True)
    record = load.run(6, 500, [(2, first.child.kill), (4, first.start)])
    problems = lost(stage, "one of two serves killed", record, 500)
    # nginx asks the other for what may be repeated, as PUT may.
    failed = sum(count for status, count in record.statuses.items() if status >= 500)
    if failed + len(record.unknown) > len(record.kept) // 100:
        problems.append(f"one of two serves killed: more than one request in a hundred failed: {told(record)}")

    def restart(serve) -> None:
        serve.child.stop()
        serve.start()

    load = Load(proxy.port, APP, key, "rolling", connections=32, tls=True)
    record = load.run(8, 500, [(2, lambda: restart(first)), (5, lambda: restart(second))])
    problems += lost(stage, "two serves restarted in turn", record, 500)
    if set(record.statuses) - {200, 201} or record.unknown:
        problems.append(f"two serves restarted in turn: a request failed: {told(record)} {record.others[:1]}")
    for serve in (first, second):
        serve.child.stop()
    proxy.child.stop()
    return problems


def revoked(stage: Stage) -> list[str]:
    """A key that is revoked is refused by each server, also by one that has just believed it."""
    name, key = stage.key("server", APP)
    serves = [stage.serve("one"), stage.serve("other")]
    path = f"/v1/apps/{APP}/topics"
    problems = []
    for serve in serves:
        answer = serve.try_to("GET", path, key)
        if answer is None or answer.status != 200:
            problems.append(f"{serve.name} does not take a key that was just made: {answer}")
    stage.run("keys", "revoke", name)
    begun = time.monotonic()
    for serve in serves:
        try:
            wait_until(
                f"{serve.name} refuses the key", lambda: serve.try_to("GET", path, key).status == 401, REVOKED_SECONDS)
        except StageError as error:
            problems.append(f"a revoked key: {error}")
    print(f"a revoked key is refused by both serves after {time.monotonic() - begun:.1f} s")
    for serve in serves:
        serve.child.stop()
    return problems


FAULTS = {fault.__name__: fault for fault in (killed, away, hung, pair, revoked)}


def run(stage: Stage) -> list[str]:
    problems = []
    for name in sys.argv[1:] or FAULTS:
        problems += FAULTS[name](stage)
    return problems


if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(FAULTS)
    if unknown:
        sys.exit(__doc__)
    main(run)
