"""What the tests of the API stand on: a Redis, servers, proxies in front of them, and keys. All of it listens on
loopback addresses, and ends with the stage, each process by its own number."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wire import Answer, WireError, ask

REPOSITORY = Path(__file__).resolve().parents[2]
START_SECONDS = 30
STOP_SECONDS = 20
# Two of them, so that one may be guarded by a proxy.
APP = "shop"
GUARDED_APP = "guarded"
# What a backend of the app would sign its users' tokens with.
USER_TOKEN_SECRET = b"0123456789abcdef0123456789abcdef"


class StageError(Exception):
    """Something that the tests need did not start, or is not there."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(what: str, holds, seconds: float = START_SECONDS) -> None:
    """Asks again and again, for as long as is given."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise StageError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.02)


class Child:
    """A process of the stage, known by its number."""

    def __init__(self, name: str, words: list[str], log: Path, environment: dict[str, str] | None = None):
        self.name = name
        self.log = log
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                # Variables of whoever runs the tests would lead elsewhere.
                env={name: value for name, value in os.environ.items() if not name.startswith("PUSHPOOL_")}
                | (environment or {}))

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def check(self) -> None:
        if not self.is_running:
            raise StageError(f"{self.name} ended with {self.process.returncode}: {self.end_of_log()}")

    def end_of_log(self) -> str:
        return self.log.read_text(errors="replace")[-2_000:]

    def send(self, number: signal.Signals) -> None:
        if self.is_running:
            self.process.send_signal(number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ends it as a service manager would, and says its status."""
        self.send(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise StageError(f"{self.name} did not end within {STOP_SECONDS} s of SIGTERM") from None


class RedisClient:
    """A connection to a Redis by its socket."""

    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def _read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise StageError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return StageError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self._read() for _ in range(int(rest))]
        raise StageError(f"Redis answered {line!r}")

    def all(self, commands: list[list[str]]) -> list:
        """Answers of many commands that are sent together; an error is an answer too."""
        answers: list = []
        for begin in range(0, len(commands), 500):
            part = commands[begin:begin + 500]
            data = b""
            for words in part:
                data += b"*%d\r\n" % len(words)
                for word in words:
                    text = word.encode()
                    data += b"$%d\r\n%b\r\n" % (len(text), text)
            self.socket.sendall(data)
            answers += [self._read() for _ in part]
        return answers

    def command(self, *words: str):
        answer = self.all([list(words)])[0]
        if isinstance(answer, StageError):
            raise answer
        return answer


class Stage:
    """Starts with Redis and a configuration; servers and proxies come as tests ask for them."""

    def __init__(self, programs: Path):
        self.programs = programs
        self.directory = tempfile.TemporaryDirectory(prefix="pp-api-")
        self.folder = Path(self.directory.name)
        self.children: list[Child] = []
        self.socket_path = self.folder / "redis.sock"
        self.configuration = self.folder / "pushpool.yaml"
        self.redis: Child | None = None

    def __enter__(self) -> "Stage":
        try:
            for program in ("pushpool", "pushpool-server", "pushpool-simulator"):
                if not os.access(self.programs / program, os.X_OK):
                    raise StageError(f"there is no {self.programs / program}: make build")
            (self.folder / "redis").mkdir()
            self.start_redis()
            self._configure()
            # Whoever changes something puts the functions into Redis.
            self.run("index", "--app", APP)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for child in reversed(self.children):
            # A process that a test has stopped must go on to end.
            child.send(signal.SIGCONT)
            child.send(signal.SIGTERM)
        for child in reversed(self.children):
            try:
                child.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
        self.directory.cleanup()

    def start(self, name: str, words: list[str], environment: dict[str, str] | None = None) -> Child:
        child = Child(name, words, self.folder / f"{name}.log", environment)
        self.children.append(child)
        return child

    # Redis

    def start_redis(self) -> None:
        """Starts Redis on what it kept, if it ran before."""
        self.redis = self.start("redis", [
            os.environ.get("TEST_REDIS") or "redis-server", "--port", "0", "--unixsocket", str(self.socket_path), "--dir",
            str(self.folder / "redis"), "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
            "--maxmemory-policy", "noeviction", "--daemonize", "no"])

        def answers() -> bool:
            self.redis.check()
            try:
                client = self.client()
                try:
                    return client.command("PING") == b"PONG"
                finally:
                    client.close()
            except (OSError, StageError):
                return False

        wait_until("redis-server answers", answers)

    def client(self) -> RedisClient:
        return RedisClient(self.socket_path)

    def installed(self, app: str, users: list[str]) -> dict[str, list[str]]:
        """The tokens of users, read from Redis itself and not from a server."""
        client = self.client()
        try:
            answers = client.all([
                ["FCALL_RO", "pushpool_devices", "2", "pushpool", "pushpool:guard",
                 json.dumps({"app": app, "user": user})] for user in users])
        finally:
            client.close()
        for answer in answers:
            if isinstance(answer, StageError):
                raise answer
        return {
            user: [device["token"] for device in json.loads(answer)] for user, answer in zip(users, answers)
        }

    # Configuration and keys

    def _configure(self) -> None:
        folder = self.folder / "networks"
        subprocess.run(
            [self.programs / "pushpool-simulator", "keys", folder, "--port", "9"], check=True,
            stdout=subprocess.DEVNULL)
        account = next(folder.glob("*.json"))
        secret = self.folder / "user-tokens.key"
        secret.write_bytes(USER_TOKEN_SECRET)
        secret.chmod(0o600)
        apps = "".join(
            f"  - id: {app}\n    fcm: {{service_account_file: {account}}}\n" for app in (APP, GUARDED_APP))
        self.configuration.write_text(
            f"redis: {{url: 'unix://{self.socket_path}'}}\n"
            "serve:\n"
            "  trusted_proxies: ['127.0.0.1']\n"
            f"  user_tokens: [{{app: {APP}, algorithm: HS256, key_file: '{secret}'}}]\n"
            f"apps:\n{apps}")

    def run(self, *words: str) -> str:
        """Runs a command of pushpool, and returns what it prints."""
        done = subprocess.run(
            [self.programs / "pushpool", *words, "--config", self.configuration], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60, check=False)
        if done.returncode != 0:
            raise StageError(f"pushpool {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def key(self, role: str, app: str | None = None) -> tuple[str, str]:
        """Makes a key: its id, and the key."""
        words = ["keys", "create", "--role", role, "--json"] + (["--app", app] if app else [])
        made = json.loads(self.run(*words))
        return made["id"], made["key"]

    # Servers

    def serve(self, name: str = "serve", port: int | None = None) -> "Serve":
        return Serve(self, name, port or free_port())

    # Proxies

    def _certificate(self) -> Path:
        both = self.folder / "proxy.pem"
        if not both.exists():
            key, certificate = self.folder / "proxy.key", self.folder / "proxy.crt"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "2", "-subj", "/CN=push.example.com", "-keyout", key, "-out", certificate],
                check=True, stderr=subprocess.DEVNULL)
            both.write_text(certificate.read_text() + key.read_text())
            both.chmod(0o600)
        return both

    @staticmethod
    def _replace(text: str, changes: list[tuple[str, str]]) -> str:
        """The file of deploy/ with other places; each must be there."""
        for pattern, replacement in changes:
            text, count = re.subn(pattern, lambda _: replacement, text, flags=re.MULTILINE)
            if count == 0:
                raise StageError(f"the proxy's file has no {pattern}: adapt Tests/Api/stage.py")
        return text

    def nginx(self, ports: list[int]) -> "Proxy":
        """nginx with deploy/proxies/nginx.conf, which refuses the guarded app."""
        both, port = self._certificate(), free_port()
        servers = "".join(f"    server 127.0.0.1:{one} max_fails=1 fail_timeout=2s;\n" for one in ports)
        site = self._replace((REPOSITORY / "deploy/proxies/nginx.conf").read_text(), [
            (r"^    server 127\.0\.0\.1:8080 .*\n", servers),
            (r"^    listen \[::\]:443 .*\n", ""),
            (r"listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            (r"/etc/ssl/push\.example\.com\.pem", str(both)),
            (r"/etc/ssl/private/push\.example\.com\.key", str(both)),
            (r"^    location / \{", f"    location /v1/apps/{GUARDED_APP}/ {{ return 403; }}\n    location / {{"),
        ])
        folder = self.folder / "nginx"
        folder.mkdir(exist_ok=True)
        temporary = "".join(
            f"  {kind}_temp_path {folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        file = folder / "nginx.conf"
        # As root, nginx would give its folders of files to another user, who cannot reach the stage's.
        user = "user root;\n" if os.getuid() == 0 else ""
        file.write_text(
            f"{user}daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
            "events { worker_connections 4096; }\n"
            f"http {{\n  access_log off;\n{temporary}{site}\n}}\n")
        words = ["nginx", "-p", str(folder), "-e", f"{folder}/error.log", "-c", str(file)]
        return Proxy(self, "nginx", words, ["-t"], port)

    def haproxy(self, ports: list[int]) -> "Proxy":
        """HAProxy with deploy/proxies/haproxy.cfg, which refuses the guarded app."""
        both, port = self._certificate(), free_port()
        servers = "".join(
            f"    server serve{number} 127.0.0.1:{one} check inter 2s fall 2 rise 1\n"
            for number, one in enumerate(ports, 1))
        guard = f"    http-request deny deny_status 403 if {{ path_beg /v1/apps/{GUARDED_APP}/ }}\n"
        file = self.folder / "haproxy.cfg"
        file.write_text(self._replace((REPOSITORY / "deploy/proxies/haproxy.cfg").read_text(), [
            (r"^    server serve1 .*\n", servers),
            (r"bind :443 ssl crt \S+", f"bind 127.0.0.1:{port} ssl crt {both}"),
            (r"^    default_backend pushpool\n", guard + "    default_backend pushpool\n"),
        ]))
        return Proxy(self, "haproxy", ["haproxy", "-db", "-f", str(file)], ["-c"], port)


class Serve:
    """A pushpool-server of the stage."""

    def __init__(self, stage: Stage, name: str, port: int):
        self.stage = stage
        self.name = name
        self.port = port
        self.metrics_port = free_port()
        self.child: Child | None = None
        self.start()

    def start(self) -> None:
        program = str(self.stage.programs / "pushpool-server")
        self.child = self.stage.start(self.name, [program, "--config", str(self.stage.configuration)], {
            "PUSHPOOL_SERVE_LISTEN": f"127.0.0.1:{self.port}",
            "PUSHPOOL_SERVE_METRICS_LISTEN": f"127.0.0.1:{self.metrics_port}",
        })
        wait_until(f"{self.name} is ready", lambda: self.is_ready)

    @property
    def is_ready(self) -> bool:
        self.child.check()
        answer = self.try_to("GET", "/readyz")
        return answer is not None and answer.status == 200

    def try_to(self, method: str, path: str, key: str | None = None, body: object = None) -> Answer | None:
        try:
            return ask(self.port, method, path, key, body)
        except (OSError, WireError):
            return None


class Proxy:
    """A proxy of the stage, which speaks TLS."""

    def __init__(self, stage: Stage, name: str, words: list[str], check: list[str], port: int):
        self.name = name
        self.port = port
        tried = subprocess.run(words + check, capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            raise StageError(f"{name} does not take its file: {tried.stdout}{tried.stderr}")
        self.child = stage.start(name, words)
        wait_until(f"{name} answers", self._answers)

    def _answers(self) -> bool:
        self.child.check()
        try:
            return ask(self.port, "GET", "/healthz", tls=True).status == 200
        except (OSError, WireError):
            return False


def programs_folder() -> Path:
    """The programs that the caller names, or those that were built last."""
    named = os.environ.get("PUSHPOOL")
    if named:
        return Path(named)
    built = [folder for folder in (REPOSITORY / ".build/release", REPOSITORY / ".build/debug")
             if (folder / "pushpool-server").exists()]
    if not built:
        raise StageError("there is no pushpool-server in .build: make build")
    return max(built, key=lambda folder: (folder / "pushpool-server").stat().st_mtime)


def main(run) -> None:
    """Runs a test on a stage. The exit status is 0 when it holds, 1 when it does not, 69 without a stage."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with Stage(programs_folder()) as stage:
            problems = run(stage)
    except StageError as error:
        print(f"{sys.argv[0]}: {error}", file=sys.stderr)
        sys.exit(69)
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)
