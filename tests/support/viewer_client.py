# SPDX-License-Identifier: BSD-3-Clause
"""A browser without a picture: it connects to the viewer as viser's page does, and keeps what it is sent."""

import threading
from collections import Counter

import msgspec
import viser
import websockets
import zstandard
from hang import HANG, comes_true
from viser import _messages
from websockets.sync.client import connect

CAMERA = _messages.ViewerCameraMessage(
    wxyz=(1.0, 0.0, 0.0, 0.0),
    position=(3.0, 3.0, 3.0),
    fov=1.0,
    near=0.01,
    far=100.0,
    image_height=400,
    image_width=600,
    look_at=(0.0, 0.0, 0.0),
    up_direction=(0.0, 0.0, 1.0),
)


class ViewerClient:
    """Messages from a viewer at an address.

    Attributes:
        names: how many of its messages were about each node.
        positions: last of each node.
        labels: of its buttons, with their identifiers.
        opacities: of triangles, by their nodes.
        changes: texts that its panel was given anew.
        windows: bundles of messages that have moved something.
    """

    def __init__(self, address):
        self.names, self.positions, self.labels, self.windows = Counter(), {}, {}, 0
        self.changes, self.opacities = [], {}
        self._socket = connect(
            address.replace("http", "ws"),
            subprotocols=[f"viser-v{viser.__version__}"],
            max_size=None,
        )
        self._send(CAMERA)
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def _send(self, message):
        self._socket.send(msgspec.msgpack.encode(message.as_serializable_dict()))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._thread.join(10.0)

    def _listen(self):
        try:
            for data in self._socket:
                self._take(data)
        except websockets.exceptions.ConnectionClosed:
            return

    def _take(self, data):
        size, length = (int.from_bytes(data[i : i + 8], "little") for i in (0, 8))
        text = zstandard.ZstdDecompressor().decompress(data[16 : 16 + length], size)
        moves = 0
        for message in msgspec.msgpack.decode(text)["messages"]:
            self.names[message.get("name")] += 1
            if message["type"] == "SetPositionMessage":
                self.positions[message["name"]] = message["position"]
                moves += 1
            if message["type"] == "MeshMessage":
                self.opacities[message["name"]] = message["props"]["opacity"] or 1.0
            if message["type"] == "GuiUpdateMessage":
                self.changes += [x for x in message["updates"].values() if isinstance(x, str)]
            if message["type"] == "GuiButtonMessage":
                self.labels[message["props"]["label"]] = message["uuid"]
        self.windows += moves > 0

    def click(self, label):
        """Press a button."""
        self._send(_messages.GuiUpdateMessage(uuid=self.labels[label], updates={"value": True}))

    def wait(self, is_so, seconds=HANG):
        """True if something comes true within some seconds."""
        return comes_true(is_so, seconds)
