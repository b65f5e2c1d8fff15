"""Pages of other sites cannot talk to the viewer's server."""

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from corekit_view.config import PageConfig
from corekit_view.local_pages import is_own_page
from corekit_view.viser_viewer import ViserViewer


@pytest.mark.parametrize(
    ("host", "origin", "own"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("localhost:9000", "http://localhost:9000", True),
        ("[::1]:9000", "http://[::1]:9000", True),
        ("127.0.0.1:8080", None, True),
        ("127.0.0.1:8080", "http://evil.example", False),
        ("127.0.0.1:8080", "http://127.0.0.1:3000", False),
        ("127.0.0.1:8080", "null", False),
        ("evil.example:8080", "http://evil.example:8080", False),
        ("", None, False),
        ("[", None, False),
    ],
)
def test_a_page_is_known_by_host_and_origin(host, origin, own):
    headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
    assert is_own_page(headers) is own


def test_a_connection_from_another_site_is_refused(arm_over_box):
    with ViserViewer(PageConfig()).serve(arm_over_box(2), "finished", 0) as session:
        address = session.url.replace("http", "ws")
        with connect(address, origin=Origin(session.url.rstrip("/")), subprotocols=[Subprotocol("viser-v0")]):
            pass
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, origin=Origin("http://evil.example"))
