"""HTTP/1.1 as bytes: requests are sent as they are given, answers are read strictly."""

import json
import re
import socket
import ssl
from dataclasses import dataclass, field

ANSWER_BYTES_MAX = 8 << 20


class WireError(Exception):
    """An answer that is none, or that did not come."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes = b""
    # Informational answers that came before this one.
    informed: list[int] = field(default_factory=list)

    def json(self):
        return json.loads(self.body)


class Connection:
    """A connection to a loopback address, plain or by TLS, from a loopback address of its own if one is given."""

    def __init__(self, port: int, tls: bool = False, source: str | None = None, timeout: float = 10):
        address = (source, 0) if source else None
        plain = socket.create_connection(("127.0.0.1", port), timeout=timeout, source_address=address)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            # The certificate is one of the stage's own, for a name of the example.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            self.socket = context.wrap_socket(plain, server_hostname="push.example.com")
        else:
            self.socket = plain
        self.received = b""
        self.is_ended = False

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def within(self, seconds: float) -> None:
        self.socket.settimeout(seconds)

    def _more(self) -> bool:
        """Reads what is there; false at the end."""
        if self.is_ended:
            return False
        if len(self.received) > ANSWER_BYTES_MAX:
            raise WireError("the answer is longer than this test reads")
        try:
            data = self.socket.recv(1 << 16)
        except (ConnectionResetError, BrokenPipeError, ssl.SSLError):
            data = b""
        if not data:
            self.is_ended = True
        self.received += data
        return not self.is_ended

    def _line_end(self, mark: bytes) -> int:
        while (end := self.received.find(mark)) < 0:
            if not self._more():
                raise WireError(f"the connection ended within an answer: {self.received[:200]!r}")
        return end

    def _take(self, count: int) -> bytes:
        while len(self.received) < count:
            if not self._more():
                raise WireError(f"the body ended after {len(self.received)} of {count} bytes")
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def answer(self, method: str = "GET") -> Answer:
        """Reads one answer, informational ones before it included."""
        informed: list[int] = []
        while True:
            head = self._take(self._line_end(b"\r\n\r\n") + 4)
            lines = head[:-4].split(b"\r\n")
            begin = re.fullmatch(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?", lines[0])
            if not begin:
                raise WireError(f"this begins no answer: {lines[0][:200]!r}")
            status = int(begin[1])
            headers: dict[str, str] = {}
            for line in lines[1:]:
                name, colon, value = line.partition(b":")
                if not colon or not re.fullmatch(rb"[!#-'*+.0-9A-Z^-z|~-]+", name):
                    raise WireError(f"this is no header field: {line[:200]!r}")
                headers.setdefault(name.decode().lower(), value.decode("latin-1").strip())
            if 100 <= status < 200 and status != 101:
                informed.append(status)
                continue
            return Answer(status, headers, self._body(method, status, headers), informed)

    def _body(self, method: str, status: int, headers: dict[str, str]) -> bytes:
        if method == "HEAD" or status in (101, 204, 304):
            return b""
        if "chunked" in headers.get("transfer-encoding", ""):
            body = b""
            while True:
                line = self._take(self._line_end(b"\r\n") + 2)
                size = int(line[:-2].split(b";")[0], 16)
                chunk = self._take(size + 2)
                if not chunk.endswith(b"\r\n"):
                    raise WireError("a chunk does not end where it should")
                if size == 0:
                    return body
                body += chunk[:-2]
        if "content-length" in headers:
            return self._take(int(headers["content-length"]))
        while self._more():
            pass
        body, self.received = self.received, b""
        return body

    def all_answers(self, seconds: float, method: str = "GET", most: int = 8) -> list[Answer]:
        """Reads answers until the connection ends or nothing comes for so many seconds."""
        self.within(seconds)
        answers: list[Answer] = []
        while len(answers) < most:
            try:
                if not self.received and not self._more():
                    break
                answers.append(self.answer(method if not answers else "GET"))
            except TimeoutError:
                break
        return answers


def request(
    method: str, path: str, key: str | None = None, body: object = None, fields: dict[str, str] | None = None
) -> bytes:
    """A plain request, with a body of JSON if there is one."""
    lines = [f"{method} {path} HTTP/1.1", "Host: push.example.com"]
    if key:
        lines.append(f"Authorization: Bearer {key}")
    data = b"" if body is None else json.dumps(body).encode()
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in (fields or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def ask(
    port: int, method: str, path: str, key: str | None = None, body: object = None,
    fields: dict[str, str] | None = None, tls: bool = False, source: str | None = None, timeout: float = 10
) -> Answer:
    """A request on a connection of its own, and its answer."""
    with Connection(port, tls, source, timeout) as connection:
        connection.send(request(method, path, key, body, fields))
        return connection.answer(method)
