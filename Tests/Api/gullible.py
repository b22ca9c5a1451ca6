"""A server that believes one thing that it should doubt, to show that the corpus notices it. It keeps devices in
memory, and listens on a loopback address."""

import json
import re
import socket
import threading

HEAD_BYTES_MAX = 32 << 10
LINE_BYTES_MAX = 1 << 10
BODY_BYTES_MAX = 4 << 20


class Doubt(Exception):
    """A request that a careful server refuses; the connection ends."""


class GullibleServer:
    # Nothing to believe: whatever is found there is the test's own mistake.
    CAREFUL = "doubts everything"
    BELIEFS = [
        "takes the length where there are both",
        "takes the encoding where there are both, and goes on",
        "takes any encoding for chunked",
        "overlooks encodings that it does not know",
        "takes the digits that a length begins with",
        "takes the first of two lengths",
        "takes the digits that a chunk's size begins with",
        "does not look for the end of a chunk",
        "gives GET no body",
        "leaves the body of what it refuses unread",
    ]

    def __init__(self, belief: str):
        assert belief in [self.CAREFUL, *self.BELIEFS]
        self.belief = belief
        self.devices: dict[tuple[str, str], str] = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]

    def __enter__(self) -> "GullibleServer":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.listener.close()

    def installed(self, app: str, users: list[str]) -> dict[str, list[str]]:
        devices = dict(self.devices)
        return {
            user: [token for (of, token), owner in devices.items() if (of, owner) == (app, user)] for user in users
        }

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        with connection, connection.makefile("rb") as file:
            try:
                try:
                    while self._one(file, connection):
                        pass
                except Doubt:
                    connection.sendall(b"HTTP/1.1 400 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            except OSError:
                pass

    def _head(self, file) -> list[bytes]:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = file.read(1)
            if not byte or len(head) > HEAD_BYTES_MAX:
                raise Doubt
            head += byte
        return head[:-4].split(b"\r\n")

    def _one(self, file, connection: socket.socket) -> bool:
        lines = self._head(file)
        begin = re.fullmatch(rb"([A-Z]+) ([!-~]+) HTTP/1\.1", lines[0])
        if not begin:
            raise Doubt
        fields: list[tuple[str, str]] = []
        for line in lines[1:]:
            found = re.fullmatch(rb"([!#-'*+.0-9A-Z^-z|~-]+):[ \t]*([ -~\t]*?)[ \t]*", line)
            if not found:
                raise Doubt
            fields.append((found[1].decode().lower(), found[2].decode()))
        method, path = begin[1].decode(), begin[2].decode()
        parts = path.split("/")
        is_known = len(parts) == 7 and parts[1:3] == ["v1", "apps"] and parts[4] == "installations"
        is_refused = path != "/healthz" and (
            not is_known or dict(fields).get("authorization") != "Bearer key")
        is_left_unread = (method == "GET" and self.belief == "gives GET no body") or (
            is_refused and self.belief == "leaves the body of what it refuses unread")
        body = b"" if is_left_unread else self._body(file, fields)
        status, content = self._answer(method, parts, body, is_refused, is_known)
        data = json.dumps(content).encode()
        connection.sendall(
            b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(data)) + (data if method != "HEAD" else b""))
        return True

    def _body(self, file, fields: list[tuple[str, str]]) -> bytes:
        lengths = [value for name, value in fields if name == "content-length"]
        encodings = [value.lower() for name, value in fields if name == "transfer-encoding"]
        is_chunked = encodings == ["chunked"]
        if self.belief == "takes any encoding for chunked":
            is_chunked = any("chunked" in value for value in encodings)
        if encodings and not is_chunked and self.belief != "overlooks encodings that it does not know":
            raise Doubt
        believes_both = "where there are both" in self.belief or self.belief == "takes any encoding for chunked"
        if is_chunked and lengths and not believes_both:
            raise Doubt
        if is_chunked and not (lengths and self.belief == "takes the length where there are both"):
            return self._chunks(file)
        if len(lengths) > 1 and self.belief != "takes the first of two lengths":
            raise Doubt
        if not lengths:
            return b""
        pattern = r"(\d{0,12}).*" if self.belief == "takes the digits that a length begins with" else r"(\d{1,12})"
        found = re.fullmatch(pattern, lengths[0])
        if not found or int(found[1] or 0) > BODY_BYTES_MAX:
            raise Doubt
        return file.read(int(found[1] or 0))

    def _chunks(self, file) -> bytes:
        body = b""
        while True:
            line = file.readline(LINE_BYTES_MAX)
            pattern = rb"([0-9a-f]{1,8})(;[ -~]*)?\r\n"
            if self.belief == "takes the digits that a chunk's size begins with":
                pattern = rb"([0-9a-f]{0,8}).*\r?\n"
            found = re.fullmatch(pattern, line, flags=re.DOTALL)
            if not found:
                raise Doubt
            size = int(found[1] or b"0", 16)
            if size > BODY_BYTES_MAX:
                raise Doubt
            body += file.read(size)
            end = file.read(2)
            if end != b"\r\n" and self.belief != "does not look for the end of a chunk":
                raise Doubt
            if size == 0:
                return body

    def _answer(self, method: str, parts: list[str], body: bytes, is_refused: bool, is_known: bool):
        if is_refused:
            return 404, {}
        if not is_known:
            return 200, {}
        key = (parts[3], parts[6])
        if method == "PUT":
            try:
                owner = json.loads(body)["user"]
            except (ValueError, KeyError, TypeError):
                return 422, {}
            is_new = key not in self.devices
            self.devices[key] = owner
            return 201 if is_new else 200, {}
        return (200, {"token": key[1]}) if key in self.devices else (404, {})
