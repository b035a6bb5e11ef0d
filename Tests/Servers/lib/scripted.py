"""What the scripted servers share: an HTTP/1.1 server of one process that says exactly what a test wants it to say.

Each request is one line of JSON in DIR/requests when it is answered or broken off: method, path, status, bytes of the body that came,
the fields that matter. Files in DIR change what the server does while it runs: `switch(name)` reads one, anew for each request.
"""
import json
import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote_to_bytes

PIECE = 1 << 16


class Broken(Exception):
    """The client went away, or is sent away, in the middle of a request."""


class Answer(Exception):
    """Ends a request with this answer."""

    def __init__(self, status, body=b"", **fields):
        super().__init__(status)
        self.status = status
        self.body = body.encode() if isinstance(body, str) else body
        self.fields = {name.replace("_", "-"): value for name, value in fields.items()}


class Scripted(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = "."
    #: Fields of a request that are written down.
    shown = ()
    lock = threading.Lock()

    # What a server is: serve(self) -> Answer, or raises one.

    def serve(self):
        raise NotImplementedError

    @classmethod
    def switch(cls, name, default=None):
        """The content of DIR/NAME, which a test may write while the server runs."""
        try:
            with open(f"{cls.folder}/{name}") as f:
                return f.read().strip()
        except FileNotFoundError:
            return default

    def handle_one_request(self):
        try:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline:
                self.close_connection = True
                return
            if not self.parse_request():
                return
        except OSError:
            self.close_connection = True
            return
        self.begun, self.came, self.status_sent = time.time(), 0, None
        self.length = int(self.headers.get("Content-Length") or 0)
        self.url, _, self.query = self.path.partition("?")
        self.name = unquote_to_bytes(self.url)
        try:
            try:
                answer = self.serve()
            except Answer as early:
                answer = early
            self.answer(answer)
        except (Broken, OSError):
            self.close_connection = True
        finally:
            self.note()

    def handle_expect_100(self):
        return True  # the body is asked for when it is read: a refusal comes before it

    def body(self, sink, check=lambda: None):
        """Passes what comes on to sink(bytes); raises Broken when less comes than was announced."""
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
        while self.came < self.length:
            check()
            data = self.rfile.read1(min(PIECE, self.length - self.came))
            if not data:
                raise Broken
            sink(data)
            self.came += len(data)

    def text(self):
        pieces = []
        self.body(pieces.append)
        return b"".join(pieces)

    def interim(self, status, reason, fields):
        head = f"HTTP/1.1 {status} {reason}\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields.items()) + "\r\n"
        self.wfile.write(head.encode())
        self.wfile.flush()

    def answer(self, answer):
        self.status_sent = answer.status
        self.send_response(answer.status)
        fields = {"Content-Type": "text/plain; charset=utf-8", **answer.fields}
        if self.command != "HEAD" and answer.status not in (204, 304):
            fields.setdefault("Content-Length", len(answer.body))
        for name, value in fields.items():
            self.send_header(name, value)
        if self.came < self.length:  # the rest of the body is not wanted, and would be taken for a request
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()
        if self.close_connection:
            self.drain()

    def drain(self):
        """Lets the client read the answer before the connection is reset under it."""
        try:
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(2)
            while self.connection.recv(PIECE):
                pass
        except OSError:
            pass

    def note(self):
        line = {"method": self.command, "path": self.path, "status": self.status_sent, "bytes": self.came}
        line.update({name: self.headers[name] for name in self.shown if name in self.headers})
        line.update(getattr(self, "remarks", {}))
        self.remarks = {}
        with self.lock, open(self.folder + "/requests", "a") as f:
            f.write(json.dumps(line) + "\n")

    def log_message(self, *_):
        pass


def run(handler, folder, port):
    handler.folder = os.path.abspath(folder)
    os.makedirs(handler.folder + "/data", exist_ok=True)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request, address):
            import traceback

            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()

    Server(("127.0.0.1", int(port)), handler).serve_forever()


def settle(data):
    """Bytes that a server has said it has are on its disk."""
    data.flush()
    os.fsync(data.fileno())


def escaped(path):
    return quote(path, safe="/~!$&'()*+,;=:@-._")
