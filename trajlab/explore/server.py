"""HTTP on loopback for one reader: a secret address, its own name only, and headers that allow the page nothing more.

The secret is the first part of every path, not a cookie: cookies do not tell ports apart, and a page that
does not know the address can neither read nor send anything. The name is checked because a stranger's domain
can be made to mean 127.0.0.1.
"""

from __future__ import annotations

import secrets
import socket
import sys
import traceback
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from trajlab.errors import LabError, TrajlabError
from trajlab.explore import pages
from trajlab.explore.sandbox import Sandbox
from trajlab.report.page import MAP_SCRIPT

LONGEST_FORM = 100_000
SCRIPTS = {"keys.js": Path(__file__).with_name("keys.js"), "map.js": MAP_SCRIPT}
HOST = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{pages.POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server(ThreadingHTTPServer):
    """Every request in a thread of its own, all of which have ended when the server is closed.

    A thread that is in the engine when the process ends would take the whole process down with it.
    """

    daemon_threads, block_on_close = False, True

    def __init__(self, sandbox: Sandbox, *, port: int, token: str) -> None:
        self.sandbox, self.token = sandbox, token
        self._callers: set[socket.socket] = set()
        try:
            super().__init__((HOST, port), Handler)
        except (OSError, OverflowError) as error:
            raise LabError(f"cannot listen on port {port}: {error}; choose another with --port") from error

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._callers.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._callers.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        for caller in list(self._callers):  # who is connected and says nothing is not waited for
            with suppress(OSError):
                caller.shutdown(socket.SHUT_RD)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who leaves early is no news."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "trajlab", ""
    timeout = 60

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdigit()) or len(size) > 9 or int(size) > LONGEST_FORM:
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a query has at most {LONGEST_FORM:,} characters\n")
            return
        body = self.rfile.read(int(size)).decode("utf-8", errors="replace")
        self._answer({name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()})

    def _answer(self, form: dict[str, str]) -> None:
        try:
            url = urlsplit(self.path)
        except ValueError:
            self._send(HTTPStatus.BAD_REQUEST, "this is no address\n")
            return
        _, token, *rest = url.path.split("/", 2) if url.path.startswith("/") else ("", "")
        own = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        if self.headers.get("Host") not in own:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "this is not the name that the playground answers to\n")
        elif not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._send(HTTPStatus.FORBIDDEN, "open the address that trajlab explore printed: it has a secret part\n")
        elif self.headers.get("Origin") not in (None, "null", *(f"http://{name}" for name in own)):
            self._send(HTTPStatus.FORBIDDEN, "another page cannot ask the playground\n")
        elif not rest:
            self._send(HTTPStatus.MOVED_PERMANENTLY, "", Location=f"/{self.server.token}/")
        elif rest[0] in SCRIPTS:
            self._send(HTTPStatus.OK, SCRIPTS[rest[0]].read_text(encoding="utf-8"), "text/javascript")
        else:
            choices = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
            self._page(rest[0], choices | form)

    def _page(self, place: str, choices: dict[str, str]) -> None:
        status, text = HTTPStatus.OK, ""
        try:
            text = pages.render(self.server.sandbox, place, choices)
        except pages.NoSuchPageError as error:
            status, text = HTTPStatus.NOT_FOUND, pages.trouble(self.server.sandbox, str(error))
        except TrajlabError as error:
            status, text = HTTPStatus.BAD_REQUEST, pages.trouble(self.server.sandbox, str(error))
        except (Exception, KeyboardInterrupt):  # the latter is how the engine says that it was stopped
            if self.server.sandbox.closing:
                return
            traceback.print_exc()
            message = "this page cannot be made: a bug in trajlab, told where trajlab explore was started"
            status, text = HTTPStatus.INTERNAL_SERVER_ERROR, pages.trouble(self.server.sandbox, message)
        self._send(status, text, "text/html")

    def _send(self, status: HTTPStatus, text: str, kind: str = "text/plain", **more: str) -> None:
        body = text.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (HEADERS | more).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the address has a secret in it."""
