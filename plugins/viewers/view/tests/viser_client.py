"""Client of viser's connection without a browser."""

import threading
import time

import msgspec
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol


class Client:
    """Scene and panel of a server, updated by its messages."""

    def __init__(self, url):
        self.nodes, self.parts, self.visible = {}, {}, {}
        protocol = Subprotocol(f"viser-v{viser.__version__}")
        self._socket = connect(url.replace("http", "ws"), subprotocols=[protocol], max_size=None)
        self._send(  # who has told its camera is a client
            "ViewerCameraMessage", wxyz=(1, 0, 0, 0), position=(1, 0, 0), fov=1.0, near=0.1, far=10.0,
            image_height=100, image_width=100, look_at=(0, 0, 0), up_direction=(0, 0, 1),
        )  # fmt: skip
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _send(self, kind, **fields):
        self._socket.send(msgspec.msgpack.encode({"type": kind, **fields}))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._socket.close()
        self._thread.join()

    def _listen(self):
        try:
            while True:
                self._take(self._socket.recv())
        except ConnectionClosed:
            return

    def _take(self, frame):
        size, packed = (int.from_bytes(frame[a : a + 8], "little") for a in (0, 8))
        raw = zstandard.ZstdDecompressor().decompress(frame[16 : 16 + packed], max_output_size=size)
        content = msgspec.msgpack.decode(raw)
        arrays, at = [], 16 + packed
        for length in content["binaryBufferLengths"]:
            at += -at % 8
            arrays.append(frame[at : at + length])
            at += length
        for message in content["messages"]:
            self._apply(message, arrays)

    def _apply(self, message, arrays):
        match message["type"]:
            case "BatchedMeshesMessage":
                self.nodes[message["name"]] = _filled(message["props"], arrays)
                self.visible[message["name"]] = True
            case "SceneNodeUpdateMessage":
                self.nodes[message["name"]].update(_filled(message["updates"], arrays))
            case "SetSceneNodeVisibilityMessage":
                self.visible[message["name"]] = message["visible"]
            case "RemoveSceneNodeMessage":
                self.nodes.pop(message["name"], None)
            case "GuiUpdateMessage":
                self.parts[message["uuid"]].update(message["updates"])
            case kind if kind.startswith("Gui") and "uuid" in message and "props" in message:
                part = {**message["props"], "uuid": message["uuid"], "value": message.get("value")}
                self.parts[message["uuid"]] = part

    def part(self, label):
        """Return an element of the panel by its label."""
        return next(part for part in list(self.parts.values()) if part.get("label") == label)

    def text(self):
        """Text of the panel."""
        contents = [part.get("content") or part.get("_markdown") or "" for part in list(self.parts.values())]
        return " ".join(str(content) for content in contents)

    def set(self, label, value):
        """Send an action of a user."""
        self._send("GuiUpdateMessage", uuid=self.part(label)["uuid"], updates={"value": value})

    def wait(self, true, seconds=120.0):
        """Wait for a condition and return whether it became true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if true():
                    return True
            except (LookupError, StopIteration, RuntimeError):
                pass  # not there yet
            time.sleep(0.02)
        return False


def _filled(props, arrays):
    """Return properties with arrays instead of their indices."""
    return {
        key: arrays[value["__binary_index"]]
        if isinstance(value, dict) and "__binary_index" in value
        else value
        for key, value in props.items()
    }
