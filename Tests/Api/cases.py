"""The corpus: requests that two programs in a row may read differently, with a second request hidden in each.

What the hidden request is for, the caller says; a case only says where it stands. `may` marks the cases in which the
hidden request stands behind a whole message: a server without a proxy may well read it as the next request, as
pipelining allows. In all others nobody may ever carry it out.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    # Given the hidden request, all that is sent.
    build: Callable[[bytes], bytes]
    may: bool = False
    method: str = "PUT"


class Corpus:
    """Makes the cases for a host, and a key that may do what the outer requests ask for."""

    def __init__(self, key: str, app: str, bodies_max: int):
        self.key = key
        self.app = app
        # More than the server reads of a body.
        self.too_long = bodies_max + 1
        self.cases: list[Case] = []
        self._both_lengths()
        self._odd_encodings()
        self._odd_lengths()
        self._odd_chunks()
        self._bodies_of_the_bodiless()
        self._odd_lines()
        self._expectations()
        self._upgrades()
        self._hops()
        self._refused_early()

    def _add(self, name: str, build: Callable[[bytes], bytes], may: bool = False, method: str = "PUT") -> None:
        self.cases.append(Case(name, build, may, method))

    def outer(
        self, *fields: bytes, method: str = "PUT", path: str | None = None, version: str = "HTTP/1.1",
        key: str | None = None
    ) -> bytes:
        """The head of the request that is not hidden."""
        path = path or f"/v1/apps/{self.app}/installations/fcm/outer-token"
        key = self.key if key is None else key
        lines = [f"{method} {path} {version}".encode(), b"Host: push.example.com"]
        if key:
            lines.append(b"Authorization: Bearer " + key.encode())
        return b"\r\n".join([*lines, b"Content-Type: application/json", *fields]) + b"\r\n\r\n"

    @staticmethod
    def chunk(data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data)

    @staticmethod
    def length(count: int) -> bytes:
        return b"Content-Length: %d" % count

    CHUNKED = b"Transfer-Encoding: chunked"
    LAST = b"0\r\n\r\n"

    def _both_lengths(self) -> None:
        def inside_length(first_length: bool):
            def build(hidden: bytes) -> bytes:
                fields = [self.length(len(self.LAST) + len(hidden)), self.CHUNKED]
                return self.outer(*(fields if first_length else fields[::-1])) + self.LAST + hidden
            return build

        def inside_chunk(first_length: bool):
            def build(hidden: bytes) -> bytes:
                chunk = self.chunk(hidden)
                fields = [self.length(chunk.index(b"\n") + 1), self.CHUNKED]
                return self.outer(*(fields if first_length else fields[::-1])) + chunk + self.LAST
            return build

        for first, order in ((True, "length first"), (False, "encoding first")):
            self._add(f"both lengths, hidden in the counted body, {order}", inside_length(first))
            self._add(f"both lengths, hidden in a chunk, {order}", inside_chunk(first))

    def _odd_encodings(self) -> None:
        spellings = {
            "space before the colon": b"Transfer-Encoding : chunked",
            "tab before the colon": b"Transfer-Encoding\t: chunked",
            "space before the name": b" Transfer-Encoding: chunked",
            "tab before the value": b"Transfer-Encoding:\tchunked",
            "vertical tab before the value": b"Transfer-Encoding: \x0bchunked",
            "NUL behind the value": b"Transfer-Encoding: chunked\x00",
            "no-break space before the value": b"Transfer-Encoding: \xa0chunked",
            "folded": b"Transfer-Encoding:\r\n chunked",
            "folded by LF alone": b"Transfer-Encoding:\n chunked",
            "in capitals": b"TRANSFER-ENCODING: CHUNKED",
            "in quotes": b'Transfer-Encoding: "chunked"',
            "unknown": b"Transfer-Encoding: xchunked",
            "chunked before identity": b"Transfer-Encoding: chunked, identity",
            "identity before chunked": b"Transfer-Encoding: identity, chunked",
            "chunked twice": b"Transfer-Encoding: chunked, chunked",
            "chunked with a parameter": b"Transfer-Encoding: chunked;q=1",
            "an empty member before": b"Transfer-Encoding: ,chunked",
            "two fields, chunked first": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "two fields, chunked last": b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
            "behind a bare LF": b"X-Other: y\nTransfer-Encoding: chunked",
            "behind a bare CR": b"X-Other: y\rTransfer-Encoding: chunked",
            "behind a field without a colon": b"X-Other\r\nTransfer-Encoding: chunked",
        }
        for name, field in spellings.items():
            def inside_length(hidden: bytes, field: bytes = field) -> bytes:
                return self.outer(self.length(len(self.LAST) + len(hidden)), field) + self.LAST + hidden

            def inside_chunk(hidden: bytes, field: bytes = field) -> bytes:
                chunk = self.chunk(hidden)
                return self.outer(self.length(chunk.index(b"\n") + 1), field) + chunk + self.LAST

            self._add(f"encoding {name}, hidden in the counted body", inside_length)
            self._add(f"encoding {name}, hidden in a chunk", inside_chunk)
        # Another field, which says nothing of lengths: what is behind the counted body is the next request.
        self._add("encoding with an underscore", lambda hidden: (
            self.outer(self.length(0), b"Transfer_Encoding: chunked") + hidden), may=True)

    def _odd_lengths(self) -> None:
        spellings: dict[str, Callable[[int], bytes]] = {
            "twice, 0 first": lambda n: b"Content-Length: 0\r\n" + self.length(n),
            "twice, 0 last": lambda n: self.length(n) + b"\r\nContent-Length: 0",
            "a list": lambda n: b"Content-Length: 0, %d" % n,
            "with a plus": lambda n: b"Content-Length: +%d" % n,
            "negative": lambda n: b"Content-Length: -%d" % n,
            "in hexadecimal": lambda n: b"Content-Length: 0x%x" % n,
            "with leading zeros": lambda n: b"Content-Length: 000%d" % n,
            "with a fraction": lambda n: b"Content-Length: %d.0" % n,
            "with an exponent": lambda n: b"Content-Length: %de0" % n,
            "with underscores": lambda n: b"Content-Length: %d_0" % n,
            "two words": lambda n: b"Content-Length: %d 0" % n,
            "space before the colon": lambda n: b"Content-Length : %d" % n,
            "space before the name": lambda n: b" Content-Length: %d" % n,
            "vertical tab before the value": lambda n: b"Content-Length: \x0b%d" % n,
            "NUL behind the value": lambda n: b"Content-Length: %d\x00" % n,
            "behind a bare CR": lambda n: b"X-Other: y\rContent-Length: %d" % n,
            "folded": lambda n: b"Content-Length:\r\n %d" % n,
            "empty": lambda n: b"Content-Length:",
            "2 to the 64th": lambda n: b"Content-Length: 18446744073709551616",
            "2 to the 32nd": lambda n: b"Content-Length: 4294967296",
        }
        for name, field in spellings.items():
            self._add(
                f"length {name}", lambda hidden, field=field: self.outer(field(len(hidden))) + hidden)

    def _odd_chunks(self) -> None:
        def add(name: str, build: Callable[[bytes], bytes], may: bool = False) -> None:
            self._add(f"chunk {name}", lambda hidden: self.outer(self.CHUNKED) + build(hidden), may)

        add("size with 0x", lambda hidden: b"0x0\r\n\r\n" + hidden)
        add("size with a plus", lambda hidden: b"+0\r\n\r\n" + hidden)
        add("size with a minus", lambda hidden: b"-0\r\n\r\n" + hidden)
        add("size with an underscore", lambda hidden: b"0_0\r\n\r\n" + hidden)
        add("size that is empty", lambda hidden: b"\r\n\r\n" + hidden)
        add("size that is no number", lambda hidden: b"g\r\n\r\n" + hidden)
        add("size of 2 to the 64th", lambda hidden: b"10000000000000000\r\n\r\n" + hidden)
        add("size of 2 to the 32nd", lambda hidden: b"100000000\r\n\r\n" + hidden)
        add("size of many zeros", lambda hidden: b"0" * 20 + b"\r\n\r\n" + hidden, may=True)
        add("size with a space behind", lambda hidden: b"0 \r\n\r\n" + hidden, may=True)
        add("longer than its size", lambda hidden: b"5\r\nAAAAABB" + self.LAST + hidden)
        add("shorter than its size", lambda hidden: b"6\r\nAAAA\r\n" + self.LAST + hidden)
        add("without an end", lambda hidden: b"5\r\nAAAAA" + self.LAST + hidden)
        add("lines that end with LF alone", lambda hidden: b"5\nAAAAA\n0\n\n" + hidden, may=True)
        add("lines that end with CR alone", lambda hidden: b"0\r\r" + hidden)
        add("last one without an empty line", lambda hidden: b"0\r\n" + hidden)
        add("trailer with a length", lambda hidden: (
            b"0\r\n" + self.length(len(hidden)) + b"\r\n\r\n" + hidden), may=True)
        add("trailer with an encoding", lambda hidden: b"0\r\n" + self.CHUNKED + b"\r\n\r\n" + hidden, may=True)

        def extension(end: bytes) -> Callable[[bytes], bytes]:
            # Whoever ends the line at the bare character reads the hidden request as part of a chunk, and whoever
            # does not reads it behind the last one.
            def build(hidden: bytes) -> bytes:
                inner = self.LAST + hidden
                size = b"%x" % len(inner)
                count = b"%x" % len(size)
                return (count + b";a" + end + b"x" * len(size) + b"\r\n" + size + b"\r\n" + inner + b"\r\n"
                        + self.LAST)
            return build

        add("extension with a bare LF", extension(b"\n"), may=True)
        add("extension with a bare CR", extension(b"\r"), may=True)
        add("extension with a NUL", extension(b"\x00"), may=True)
        add("extension of 20 KiB", lambda hidden: b"0;" + b"a" * 20_480 + b"\r\n\r\n" + hidden, may=True)

    def _bodies_of_the_bodiless(self) -> None:
        for method, path in (("GET", "/healthz"), ("HEAD", "/healthz"), ("DELETE", None), ("OPTIONS", None)):
            self._add(f"{method} with a counted body", lambda hidden, method=method, path=path: (
                self.outer(self.length(len(hidden)), method=method, path=path) + hidden), method=method)
            self._add(f"{method} with chunks", lambda hidden, method=method, path=path: (
                self.outer(self.CHUNKED, method=method, path=path) + self.chunk(hidden) + self.LAST), method=method)
        self._add("HTTP/1.0 with chunks", lambda hidden: (
            self.outer(b"Connection: keep-alive", self.CHUNKED, version="HTTP/1.0") + self.LAST + hidden))
        self._add("HTTP/1.0 with both lengths", lambda hidden: (
            self.outer(self.length(len(self.LAST) + len(hidden)), self.CHUNKED, b"Connection: keep-alive",
                       version="HTTP/1.0") + self.LAST + hidden))

    def _odd_lines(self) -> None:
        health = b"Host: push.example.com\r\n\r\n"
        lines = {
            "version twice": b"GET /healthz HTTP/1.1 HTTP/1.1\r\n" + health,
            "version of the future": b"GET /healthz HTTP/9.9\r\n" + health,
            "version of two digits": b"GET /healthz HTTP/1.10\r\n" + health,
            "version in small letters": b"GET /healthz http/1.1\r\n" + health,
            "two spaces": b"GET  /healthz HTTP/1.1\r\n" + health,
            "tabs": b"GET\t/healthz\tHTTP/1.1\r\n" + health,
            "space behind": b"GET /healthz HTTP/1.1 \r\n" + health,
            "empty lines before": b"\r\n\r\nGET /healthz HTTP/1.1\r\n" + health,
            "LF alone": b"GET /healthz HTTP/1.1\nHost: push.example.com\n\n",
            "CR alone": b"GET /healthz HTTP/1.1\rHost: push.example.com\r\r",
            "absolute form": b"GET http://other.example/healthz HTTP/1.1\r\n" + health,
            "two hosts": b"GET /healthz HTTP/1.1\r\nHost: other.example\r\n" + health,
            "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
            "a name that is empty": b"GET /healthz HTTP/1.1\r\n: x\r\n" + health,
            "a name with a space": b"GET /healthz HTTP/1.1\r\nX Y: x\r\n" + health,
            "a name with NUL": b"GET /healthz HTTP/1.1\r\nX\x00: x\r\n" + health,
            "a value with NUL": b"GET /healthz HTTP/1.1\r\nX: a\x00b\r\n" + health,
            "a line of a space": b"GET /healthz HTTP/1.1\r\nHost: push.example.com\r\n \r\n\r\n",
            "a path with a space": b"GET /heal thz HTTP/1.1\r\n" + health,
            "a path with NUL": b"GET /healthz\x00 HTTP/1.1\r\n" + health,
            "a path that is a star": b"OPTIONS * HTTP/1.1\r\n" + health,
            "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        }
        for name, line in lines.items():
            self._add(f"line with {name}", lambda hidden, line=line: line + hidden, may=True, method="GET")
        self._add("line of HTTP/0.9", lambda hidden: b"GET /healthz\r\n" + hidden, method="GET")
        self._add("head that does not end", lambda hidden: (
            b"GET /healthz HTTP/1.1\r\nHost: push.example.com\r\nX: " + hidden), method="GET")

    def _expectations(self) -> None:
        for value in (b"100-continue", b"y 100-continue", b"100-continue, 100-continue", b" 100-Continue", b"x"):
            name = value.decode()
            self._add(f"Expect: {name}, the body at once", lambda hidden, value=value: (
                self.outer(self.length(len(hidden)), b"Expect: " + value) + hidden))
            self._add(f"GET with Expect: {name}, and a body", lambda hidden, value=value: (
                self.outer(self.length(len(hidden)), b"Expect: " + value, method="GET") + hidden), method="GET")

    def _upgrades(self) -> None:
        offers = {
            "h2c": (b"Upgrade: h2c", b"Connection: Upgrade, HTTP2-Settings",
                    b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"),
            "websocket": (b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 777",
                          b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
        }
        for name, fields in offers.items():
            self._add(f"upgrade to {name}, and a counted body", lambda hidden, fields=fields: (
                self.outer(*fields, self.length(len(hidden))) + hidden))
            self._add(f"upgrade to {name}, and a request behind", lambda hidden, fields=fields: (
                self.outer(*fields, method="GET", path="/healthz") + hidden), may=True, method="GET")
        self._add("CONNECT", lambda hidden: (
            b"CONNECT 127.0.0.1:8080 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n" + hidden), may=True, method="CONNECT")

    def _hops(self) -> None:
        self._add("a length that belongs to the hop", lambda hidden: (
            self.outer(b"Connection: keep-alive, Content-Length", self.length(len(hidden))) + hidden))
        self._add("an encoding that belongs to the hop", lambda hidden: (
            self.outer(b"Connection: keep-alive, Transfer-Encoding", self.CHUNKED) + self.chunk(hidden) + self.LAST))

    def _refused_early(self) -> None:
        """Answers that need no body: whoever leaves it unread must not read it as a request."""
        long_path = f"/v1/apps/{self.app}/installations/fcm/" + "x" * 12_000
        refused: dict[str, dict] = {
            "without a key": {"key": ""},
            "with a wrong key": {"key": "pp_server_none_" + "A" * 43},
            "for another app": {"path": "/v1/apps/nobody/installations/fcm/outer-token"},
            "for an unknown path": {"path": "/v1/nothing/here"},
            "for a method that the path has not": {"method": "PUT", "path": "/healthz"},
            "for a method that there is not": {"method": "BREW"},
            "for a path that is too long": {"path": long_path},
            "for a path with bad encoding": {"path": f"/v1/apps/{self.app}/installations/fcm/%zz"},
            "for a network that there is not": {"path": f"/v1/apps/{self.app}/installations/pigeon/outer-token"},
        }
        for name, words in refused.items():
            self._add(f"refused {name}, with a counted body", lambda hidden, words=words: (
                self.outer(self.length(len(hidden)), **words) + hidden), method=words.get("method", "PUT"))
            self._add(f"refused {name}, with chunks", lambda hidden, words=words: (
                self.outer(self.CHUNKED, **words) + self.chunk(hidden) + self.LAST),
                method=words.get("method", "PUT"))
        self._add("refused as too long", lambda hidden: (
            self.outer(self.length(self.too_long)) + hidden + b" " * 4_096))
        self._add("refused as too long, and sent whole", lambda hidden: (
            self.outer(self.length(self.too_long)) + (hidden * (self.too_long // len(hidden) + 1))[:self.too_long]))
        self._add("refused for its many fields", lambda hidden: (
            self.outer(*[b"X-%d: y" % number for number in range(150)], self.length(len(hidden))) + hidden))
        self._add("refused for its long fields", lambda hidden: (
            self.outer(*[b"X-%d: " % number + b"y" * 4_000 for number in range(5)], self.length(len(hidden)))
            + hidden))
        self._add("refused as no JSON", lambda hidden: self.outer(self.length(len(hidden))) + hidden)
