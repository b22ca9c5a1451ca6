#!/usr/bin/env python3
"""Sends each case of the corpus to a server, directly and through nginx and HAProxy, and asks three things:

- whether a hidden request was carried out, which Redis says and not the server. The proxies refuse one app, so
  whatever happens to that app behind them has been smuggled past them. A plain request shows that they refuse it.
- whether neighbours, on connections of their own, get their own answers afterwards.
- whether the server still lives, and no header field came out of a path.

    Tests/Api/smuggling.py             against the programs in .build, or those in $PUSHPOOL
    Tests/Api/smuggling.py --list      the names of the cases
    Tests/Api/smuggling.py --check     against a server that believes everything: it must be noticed

Needs nginx, haproxy, openssl and redis-server, and nothing from PyPI.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cases import Case, Corpus
from stage import APP, GUARDED_APP, Serve, Stage, main
from wire import Answer, Connection, WireError, ask, request

# ServerLimits.bodyBytesMax
BODY_BYTES_MAX = 1 << 20
# How long a route is listened to after a case: some leave it waiting for more, as they should.
QUIET_SECONDS = 0.4
NEIGHBOURS = 4
PATHS_THAT_SPLIT = [
    "a%0d%0aX-Split:%20yes", "a%0aX-Split:%20yes", "a%0d%0a%0d%0aHTTP/1.1%20200%20OK", "a%E5%98%8A%E5%98%8DX-Split:yes",
]


@dataclass
class Route:
    """A way to the server."""

    name: str
    port: int
    tls: bool
    # Whether the hidden requests are for the app that the proxy refuses.
    guards: bool
    # An address of the loopback range of its own, so that no limit by address meets the neighbours.
    network: int
    problems: list[str] = field(default_factory=list)
    neighbours_answered: int = 0
    second_answers: int = 0

    def connect(self, host: int) -> Connection:
        return Connection(self.port, self.tls, source=f"127.0.{self.network}.{host}")


class Smuggling:
    def __init__(self, routes: list[Route], key: str, hidden_key: str, installed: Callable[[str, list[str]], dict]):
        self.routes = routes
        self.key = key
        self.hidden_key = hidden_key
        self.installed = installed
        self.corpus = Corpus(key, APP, BODY_BYTES_MAX)

    @staticmethod
    def user(route: Route, number: int) -> str:
        return f"mallory-{route.name}-{number}"

    def hidden(self, route: Route, number: int) -> bytes:
        app = GUARDED_APP if route.guards else APP
        path = f"/v1/apps/{app}/installations/fcm/hidden-{route.name}-{number}"
        return request("PUT", path, self.hidden_key, {"user": self.user(route, number)})

    def run(self) -> list[str]:
        self.prepare()
        threads = [threading.Thread(target=self.guarded_run, args=(route,)) for route in self.routes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [f"{route.name}: {problem}" for route in self.routes for problem in route.problems]

    def guarded_run(self, route: Route) -> None:
        try:
            self.controls(route)
            for number, case in enumerate(self.corpus.cases):
                self.one(route, number, case)
            self.judge(route)
            self.splitting(route)
        except (OSError, WireError) as error:
            route.problems.append(f"the test itself broke off: {type(error).__name__}: {error}")

    def prepare(self) -> None:
        """Installs the devices that neighbours ask for, one each, so that another's answer is noticed."""
        route = self.routes[0]
        for number in range(NEIGHBOURS):
            path = f"/v1/apps/{APP}/installations/fcm/neighbour-{number}"
            answer = self.patient(route, request("PUT", path, self.key, {"user": f"neighbour-{number}"}))
            if answer.status not in (200, 201):
                raise WireError(f"a plain PUT was answered with {answer.status}: {answer.body[:300]!r}")

    def patient(self, route: Route, data: bytes, host: int = 1) -> Answer:
        """The answer to a plain request; a limit on rates is waited for."""
        for _ in range(20):
            with route.connect(host) as connection:
                connection.send(data)
                answer = connection.answer()
            if answer.status != 429:
                return answer
            time.sleep(min(5.0, float(answer.headers.get("retry-after", "1"))))
        raise WireError("a neighbour was told 429 twenty times")

    def controls(self, route: Route) -> None:
        """Shows that the test would notice: an open request is carried out, and a proxy guards its app."""
        open_number, guarded_number = 9_000, 9_001
        path = f"/v1/apps/{APP}/installations/fcm/control-{route.name}"
        data = request("PUT", path, self.key, {"user": self.user(route, open_number)})
        with route.connect(2) as connection:
            connection.send(data + data)
            answers = connection.all_answers(5, most=2)
        if [answer.status for answer in answers] not in ([201, 200], [200, 200]):
            route.problems.append(f"two requests in a row were answered with {[one.status for one in answers]}")
        if not self.installed(APP, [self.user(route, open_number)])[self.user(route, open_number)]:
            route.problems.append("an open request was not carried out, so the test cannot tell anything")
        if route.guards:
            answer = self.patient(route, self.hidden(route, guarded_number))
            if answer.status != 403:
                route.problems.append(f"the guarded app was answered with {answer.status}, not with 403")

    def one(self, route: Route, number: int, case: Case) -> None:
        answers: list[Answer] = []
        # 200 addresses in turn: no limit on rates is what stops a case.
        with route.connect(10 + number % 200) as connection:
            try:
                connection.send(case.build(self.hidden(route, number)))
                answers = connection.all_answers(QUIET_SECONDS, case.method)
            except OSError:
                # Refused while it was sent.
                pass
            except WireError as error:
                # HTTP/0.9 has no head, and HTTP/2 speaks in frames.
                if case.name not in ("line of HTTP/0.9", "line with the preface of HTTP/2"):
                    route.problems.append(f"{case.name}: {error}")
        route.second_answers += len(answers) > 1
        statuses = [answer.status for answer in answers]
        # A proxy may say by itself that the connection to the server ended.
        if any(status >= 500 and status not in (501, 505, 502 if route.guards else 501) for status in statuses):
            route.problems.append(f"{case.name}: answered with {statuses}")
        if 101 in statuses:
            route.problems.append(f"{case.name}: the protocol was changed")
        for neighbour in range(NEIGHBOURS):
            self.neighbour(route, neighbour, case.name)

    def neighbour(self, route: Route, number: int, after: str) -> None:
        path = f"/v1/apps/{APP}/installations/fcm/neighbour-{number}"
        try:
            answer = self.patient(route, request("GET", path, self.key), host=3 + number)
            token = answer.json().get("token") if answer.status == 200 else None
        except (OSError, WireError, ValueError) as error:
            route.problems.append(f"after {after}: neighbour {number} got no answer: {type(error).__name__}: {error}")
            return
        if token != f"neighbour-{number}":
            route.problems.append(f"after {after}: neighbour {number} got {answer.status} {answer.body[:200]!r}")
        else:
            route.neighbours_answered += 1

    def judge(self, route: Route) -> None:
        app = GUARDED_APP if route.guards else APP
        users = [self.user(route, number) for number in range(len(self.corpus.cases))]
        found = self.installed(app, users)
        for user, case in zip(users, self.corpus.cases):
            if found[user] and (route.guards or not case.may):
                route.problems.append(f"{case.name}: THE HIDDEN REQUEST WAS CARRIED OUT")
        if route.guards and (control := self.installed(app, [self.user(route, 9_001)])[self.user(route, 9_001)]):
            route.problems.append(f"the guarded app could be reached openly: {control}")

    def splitting(self, route: Route) -> None:
        for path in PATHS_THAT_SPLIT:
            with route.connect(250) as connection:
                connection.send(request("GET", f"/v1/apps/{APP}/jobs/{path}", self.key))
                try:
                    answers = connection.all_answers(QUIET_SECONDS)
                except WireError as error:
                    route.problems.append(f"the path {path}: {error}")
                    continue
            if len(answers) > 1 or any("x-split" in answer.headers for answer in answers):
                route.problems.append(f"the path {path} came out as header fields")


def version(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr)
    return found[0] if found else "?"


def run(stage: Stage) -> list[str]:
    serve: Serve = stage.serve()
    _, key = stage.key("server", APP)
    _, guarded_key = stage.key("server", GUARDED_APP)
    nginx, haproxy = stage.nginx([serve.port]), stage.haproxy([serve.port])
    direct = Route("directly", serve.port, tls=False, guards=False, network=1)
    proxied = [
        Route("nginx", nginx.port, tls=True, guards=True, network=2),
        Route("haproxy", haproxy.port, tls=True, guards=True, network=3),
    ]
    started = time.monotonic()
    # The hidden requests have a key that may do what they ask for, where they ask for it.
    problems = Smuggling([direct], key, key, stage.installed).run()
    smuggling = Smuggling(proxied, key, guarded_key, stage.installed)
    problems += smuggling.run()
    for child in (serve.child, nginx.child, haproxy.child):
        if not child.is_running:
            problems.append(f"{child.name} has ended with {child.process.returncode}: {child.end_of_log()}")
    answered = sum(route.neighbours_answered for route in [direct, *proxied])
    print(
        f"smuggling: {len(smuggling.corpus.cases)} cases directly, behind nginx {version('nginx', '-v')} and behind "
        f"HAProxy {version('haproxy', '-v')}; {answered:,} neighbours were answered; "
        f"{len(problems)} problems; {time.monotonic() - started:.0f} s")
    return problems


def check() -> None:
    """Runs the corpus against servers that believe one thing each. All must be found out, and a careful one not."""
    from gullible import GullibleServer

    carried: dict[str, list[str]] = {}

    def judge(belief: str) -> None:
        with GullibleServer(belief) as server:
            route = Route("directly", server.port, tls=False, guards=False, network=1)
            problems = Smuggling([route], "key", "key", server.installed).run()
            carried[belief] = [problem for problem in problems if "CARRIED OUT" in problem]

    threads = [threading.Thread(target=judge, args=(one,)) for one in [GullibleServer.CAREFUL, *GullibleServer.BELIEFS]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for belief, problems in carried.items():
        print(f"a server that {belief}: {len(problems)} hidden requests were carried out")
    missed = [belief for belief in GullibleServer.BELIEFS if not carried[belief]]
    if missed or carried[GullibleServer.CAREFUL]:
        sys.exit(f"not noticed: {missed}; of a careful server: {carried[GullibleServer.CAREFUL]}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(case.name for case in Corpus("key", APP, BODY_BYTES_MAX).cases))
    elif sys.argv[1:] == ["--check"]:
        check()
    elif not sys.argv[1:]:
        main(run)
    else:
        sys.exit(__doc__)
