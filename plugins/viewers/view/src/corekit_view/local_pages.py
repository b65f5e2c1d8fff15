"""Only the viewer's own page may talk to the viewer's server.

The server listens on this machine alone, but a page of any web site that is open in the browser could connect to it:
the browser allows that, and names the site in `Origin`. `Host` names a site whose
name is made to mean this machine.
"""

from __future__ import annotations

import contextlib
import http
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from corekit.errors import PluginError

__all__ = ["is_own_page", "refuse_foreign_pages"]

_HERE = {"127.0.0.1", "localhost", "::1"}


def is_own_page(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from the server's own page, or from a program that is no browser.

    The port is whatever the browser uses: it may be forwarded from another machine.
    """
    host, origin = headers.get("Host", ""), headers.get("Origin")
    try:
        is_local = urlsplit(f"http://{host}").hostname in _HERE
    except ValueError:  # brackets that do not close
        return False
    return is_local and origin in (None, f"http://{host}")


@contextlib.contextmanager
def refuse_foreign_pages() -> Iterator[None]:
    """Make the server that viser starts within the block answer other pages with 403.

    viser hands no such option on, so the function by which it starts the server is wrapped meanwhile.

    Raises:
        PluginError: viser started no server by that function.
    """
    import websockets.asyncio.server as module
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    original, guarded = module.serve, []

    def serve(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        def process(connection: Any, request: Any) -> Any:
            if not is_own_page(request.headers):
                return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", Headers(), b"only for its own page\n")
            return None if process_request is None else process_request(connection, request)

        guarded.append(process)
        return original(*arguments, process_request=process, **options)

    module.serve = serve  # pyrefly: ignore[bad-assignment]
    try:
        yield
    finally:
        module.serve = original
    if not guarded:
        raise PluginError(
            "the installed viser starts its server in another way, which other pages could use: install the version "
            "that corekit-view was tested with"
        )
