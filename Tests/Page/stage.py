"""What the tests of the page look at: Redis, simulated push networks, a worker and pushpool-server, all of it gone afterwards."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

root = Path(__file__).resolve().parents[2]

# How long anything may take that the tests wait for: they run beside others.
patience_s = 60

# Users have devices of several networks.
installations = 3000
users = 1450


class Stage:
    """Programs come from the folder that PUSHPOOL names, .build/release otherwise."""

    def __init__(self):
        self.programs = Path(os.environ.get("PUSHPOOL", root / ".build/release")).resolve()
        self.folder = tempfile.TemporaryDirectory(prefix="pushpool-page-")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PUSHPOOL")}
        self.children = []
        self.gate = None
        try:
            self._start_demo()
            self.gate = RedisGate(self.socket)
            self._start_server()
            self.keys = {role: self.make_key(role) for role in ("operator-look", "operator-act", "admin")}
            self.keys["server"] = self.make_key("server", "--app", "shop")
        except BaseException:
            self.close()
            raise

    def _child(self, *words, **options):
        child = subprocess.Popen([str(word) for word in words], env=self.environment, stdin=subprocess.DEVNULL, **options)
        self.children.append(child)
        return child

    def _start_demo(self):
        demo = self._child(
            self.programs / "pushpool", "demo", "--keep", "--installations", installations, "--users", users,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        told = []
        for line in demo.stderr:
            told.append(line)
            if found := re.search(r"runs as process (\d+)", line):
                self.worker = int(found[1])
            if found := re.search(r"PUSHPOOL_REDIS_URL=(unix://(\S+))", line):
                self.redis_url, self.socket = found[1], found[2]
            if found := re.search(r"--user (\S+)", line):
                self.reached_user = found[1]
                break
        else:
            raise RuntimeError("the demo ended:\n" + "".join(told))
        # Nobody else reads it, and a full pipe would stop it.
        threading.Thread(target=demo.stderr.read, daemon=True).start()
        words = Path(f"/proc/{self.worker}/cmdline").read_text().split("\0")
        self.configuration = next(
            word.removeprefix("--config=") if word.startswith("--config=") else words[place + 1]
            for place, word in enumerate(words) if word.startswith("--config"))

    def _start_server(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.server_log = Path(self.folder.name) / "server.log"
        with open(self.server_log, "w") as log:
            server = self._child(
                self.programs / "pushpool-server", "--config", self.configuration, "--redis", self.gate.url,
                "--listen", f"127.0.0.1:{port}", stdout=log, stderr=log)
        until(lambda: self._is_ready(server), "the server is ready")

    def _is_ready(self, server):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}:\n{self.server_log.read_text()}")
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def close(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
        if self.gate:
            self.gate.cut()
        self.folder.cleanup()

    # Redis and the command line

    def redis(self, *words):
        done = subprocess.run(
            ["redis-cli", "-s", self.socket, *map(str, words)], capture_output=True, text=True, check=True, timeout=patience_s)
        return done.stdout.strip()

    def pushpool(self, *words, text=None):
        done = subprocess.run(
            [str(self.programs / "pushpool"), *map(str, words)], input=text, capture_output=True, text=True,
            env={**self.environment, "PUSHPOOL_REDIS_URL": self.redis_url}, timeout=patience_s)
        if done.returncode != 0:
            raise RuntimeError(f"pushpool {' '.join(map(str, words))}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def make_key(self, role, *options):
        return json.loads(self.pushpool("keys", "create", "--role", role, *options, "--json"))["key"]

    def enqueue(self, job_id, users=60, **fields):
        """A job to the first users, each with some two devices."""
        job = {
            "id": job_id, "app": "shop", "audience": {"users": [f"user-{number}" for number in range(1, users + 1)]},
            "notification": {"title": "Hello"}, **fields,
        }
        self.pushpool("enqueue", text=json.dumps(job))

    def add_bad_job(self, job_id):
        """A job that becomes a dead letter as soon as a worker takes it."""
        job = {"id": job_id, "app": "shop", "audience": {"users": ["user-1"]}, "notification": {"titel": "Hello"}}
        self.redis("XADD", "pushpool:jobs:normal", "*", "job", json.dumps(job))

    def dead(self):
        return int(self.redis("XLEN", "pushpool:dead"))

    def state(self, job_id):
        return self.redis("HGET", f"pushpool:job:shop:{job_id}", "state")

    @contextlib.contextmanager
    def beating(self, worker, **fields):
        """A worker of that name beats, though there is no process of it, and leaves at the end."""
        self.redis("HSET", f"pushpool:worker:{worker}", "lanes", 1, *(word for field in fields.items() for word in field))
        ended = threading.Event()

        def beat():
            while True:
                seconds, micros = map(int, self.redis("TIME").split())
                self.redis("ZADD", "pushpool:workers", seconds * 1000 + micros // 1000, worker)
                if ended.wait(0.5):
                    return

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self.redis("ZREM", "pushpool:workers", worker)
            self.redis("DEL", f"pushpool:worker:{worker}")

    def calls(self, command):
        """How often Redis has run a command so far."""
        found = re.search(rf"cmdstat_{command}:calls=(\d+)", self.redis("INFO", "commandstats"))
        return int(found[1]) if found else 0

    # The API

    def ask(self, method, path, key=None, body=None, headers=None):
        """Returns the status, the document and the header fields."""
        request = urllib.request.Request(self.url + path, method=method, headers=headers or {})
        if key:
            request.add_header("authorization", f"Bearer {key}")
        if body is not None:
            request.add_header("content-type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=patience_s) as answer:
                content, status, fields = answer.read(), answer.status, answer.headers
        except urllib.error.HTTPError as error:
            content, status, fields = error.read(), error.code, error.headers
        is_json = "json" in (fields.get("content-type") or "")
        return status, json.loads(content) if is_json and content else content, fields

    def stream(self, key, last_event=None):
        headers = {"authorization": f"Bearer {key}"}
        if last_event:
            headers["last-event-id"] = last_event
        request = urllib.request.Request(self.url + "/v1/events", headers=headers)
        return urllib.request.urlopen(request, timeout=patience_s)

    def stop_worker(self):
        os.kill(self.worker, signal.SIGSTOP)

    def go_on_worker(self):
        os.kill(self.worker, signal.SIGCONT)


class RedisGate:
    """Stands between the server and Redis, and can be shut."""

    def __init__(self, path):
        self.path = path
        self.sockets = []
        self.listener = None
        self._listen(0)
        self.port = self.listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"

    def _listen(self, port):
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.path)
            self.sockets += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(source, target), daemon=True).start()

    @staticmethod
    def _copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        # An accept that waits is not ended by close alone.
        for one in [self.listener, *self.sockets]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        self.sockets = []

    def mend(self):
        self._listen(self.port)


def until(holds, what):
    """Waits until something holds."""
    end = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it did not come about that {what}")
        time.sleep(0.1)
