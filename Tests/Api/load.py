"""Many installs at a pace, over many connections, and a record of what was answered to each."""

import json
import selectors
import socket
import ssl
import time
from collections import Counter
from dataclasses import dataclass, field

CONNECT_SECONDS = 2
# One answer may take this long before it counts as none.
ANSWER_SECONDS = 15


@dataclass
class Record:
    """What became of the requests."""

    # Users whose install was answered with 2xx: it must be in Redis.
    kept: list[str] = field(default_factory=list)
    # Users whose install was sent, and the connection ended: it may be in Redis or not.
    unknown: list[str] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    times_ms: list[float] = field(default_factory=list)
    seconds: float = 0
    # Answers other than 2xx, a few of them, whole.
    others: list[bytes] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.kept) / self.seconds if self.seconds else 0

    def percentile_ms(self, share: float) -> float:
        times = sorted(self.times_ms)
        return times[min(len(times) - 1, int(len(times) * share))] if times else 0


class Line:
    """One connection of the load, which carries a request at a time."""

    __slots__ = ("socket", "user", "sent_at", "received")

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        self.user: str | None = None
        self.sent_at = 0.0
        self.received = b""


class Load:
    """Sends `PUT /v1/apps/{app}/installations/fcm/{token}`, a user and a token each time, at so many a second."""

    def __init__(self, port: int, app: str, key: str, name: str, connections: int = 64, tls: bool = False):
        self.port = port
        self.app = app
        self.key = key
        self.name = name
        self.lines = [Line() for _ in range(connections)]
        self.context: ssl.SSLContext | None = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
        self.selector = selectors.DefaultSelector()
        self.count = 0

    def _request(self, user: str) -> bytes:
        body = json.dumps({"user": user}).encode()
        return (
            f"PUT /v1/apps/{self.app}/installations/fcm/token-{user} HTTP/1.1\r\nHost: push.example.com\r\n"
            f"Authorization: Bearer {self.key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    def _open(self, line: Line) -> bool:
        try:
            plain = socket.create_connection(("127.0.0.1", self.port), CONNECT_SECONDS)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.socket = self.context.wrap_socket(plain) if self.context else plain
        except OSError:
            return False
        line.received = b""
        self.selector.register(line.socket, selectors.EVENT_READ, line)
        return True

    def _close(self, line: Line) -> None:
        if line.socket is not None:
            self.selector.unregister(line.socket)
            line.socket.close()
        line.socket = None

    def _lost(self, line: Line, record: Record) -> None:
        if line.user is not None:
            record.unknown.append(line.user)
            line.user = None
        self._close(line)

    def _send(self, line: Line, record: Record) -> None:
        self.count += 1
        line.user = f"{self.name}-{self.count}"
        line.sent_at = time.monotonic()
        try:
            line.socket.sendall(self._request(line.user))
        except OSError:
            self._lost(line, record)

    def _receive(self, line: Line, record: Record) -> None:
        try:
            data = line.socket.recv(1 << 16)
            # What TLS has unpacked already is no event of the socket.
            while self.context and line.socket.pending():
                data += line.socket.recv(1 << 16)
        except ssl.SSLWantReadError:
            return
        except OSError:
            data = b""
        if not data:
            return self._lost(line, record)
        line.received += data
        end = line.received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = line.received[:end].lower()
        status = int(head[9:12])
        begin = head.find(b"\r\ncontent-length:")
        length = int(head[begin + 17:].split(b"\r\n", 1)[0]) if begin >= 0 else 0
        if len(line.received) < end + 4 + length:
            return
        record.statuses[status] += 1
        record.times_ms.append((time.monotonic() - line.sent_at) * 1_000)
        if 200 <= status < 300:
            record.kept.append(line.user)
        elif len(record.others) < 20:
            record.others.append(line.received)
        line.user, line.received = None, b""
        if b"\r\nconnection: close" in head:
            self._close(line)

    def run(self, seconds: float, per_second: float, at: list[tuple[float, object]] | None = None) -> Record:
        """Sends for so long, and does what `at` says at its moments, as (seconds from now, what to call)."""
        record, events = Record(), sorted(at or [], key=lambda event: event[0])
        started = time.monotonic()
        due = 0
        try:
            while True:
                now = time.monotonic() - started
                while events and events[0][0] <= now:
                    events.pop(0)[1]()
                    now = time.monotonic() - started
                waiting = sum(line.user is not None for line in self.lines)
                if now >= seconds and not events and (not waiting or now >= seconds + ANSWER_SECONDS):
                    break
                if now < seconds:
                    # A connection that cannot be made is not tried more often than the pace has it.
                    for line in self.lines:
                        if due >= now * per_second:
                            break
                        if line.user is None:
                            due += 1
                            if line.socket is not None or self._open(line):
                                self._send(line, record)
                for key, _ in self.selector.select(0.001):
                    self._receive(key.data, record)
            record.seconds = min(time.monotonic() - started, seconds)
        finally:
            for line in self.lines:
                self._lost(line, record)
        return record
