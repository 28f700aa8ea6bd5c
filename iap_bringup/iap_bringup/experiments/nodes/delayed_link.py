# SPDX-License-Identifier: BSD-3-Clause
"""Two networks of this machine, with a link between them that delays and loses packets, as radio does.

Kernels without netem (tc) are common in containers. So a thread relays Ethernet frames between two virtual cables.
"""

import heapq
import os
import random
import select
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import Self

from iap_description.errors import BadInput

SIDES = ("a", "b")
SOL_PACKET, PACKET_VNET_HDR = 263, 15  # of linux/if_packet.h
ALL_FRAMES, FRAME_BYTES = 3, 1 << 17  # ETH_P_ALL; bytes of a frame with its offload header
QUEUE = 1 << 23  # bytes that wait in a socket


class DelayedLink:
    """Two network namespaces, each with one cable; use it as a context manager, as root.

    Args:
        delay: of each frame [s].
        loss: share of the frames that are lost, each by itself.
        seed: of the losses.

    Attributes:
        names: of the namespaces.
        frames: that came to the relay.
        lost: of them.

    Raises:
        BadInput: on entry, where namespaces are not allowed.
    """

    def __init__(self, delay: float, loss: float, seed: int = 0) -> None:
        self._delay, self._loss, self._random = delay, loss, random.Random(seed)  # noqa: S311
        self.names = tuple(f"iap_{side}_{os.getpid()}" for side in SIDES)
        self._cables = tuple(f"iap{side}{os.getpid()}" for side in SIDES)
        self.frames = self.lost = 0
        self._sockets: list[socket.socket] = []
        self._is_over = threading.Event()
        self._relay = threading.Thread(target=self._forward, name="relay")

    def __enter__(self) -> Self:
        try:
            for number, (space, cable) in enumerate(zip(self.names, self._cables, strict=True)):
                self._lay(number, space, cable)
            self._sockets = [_packets_of(cable) for cable in self._cables]
        except (OSError, subprocess.CalledProcessError) as error:
            self._remove()
            reason = getattr(error, "stderr", None) or str(error)
            text = str(reason).strip().splitlines()[0]
            raise BadInput(
                f"no network namespaces here: {text}; it takes Linux, root and iproute2"
            ) from error
        self._relay.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._relay.join()
        self._remove()

    def _lay(self, number: int, space: str, cable: str) -> None:
        """Make a namespace and its cable, whose end here has no address."""
        end = f"{cable}i"
        _ip("netns", "add", space)
        _ip("link", "add", cable, "type", "veth", "peer", "name", end)
        _ip("link", "set", end, "netns", space)
        _ip("-n", space, "addr", "add", f"10.213.0.{number + 1}/24", "dev", end)
        for device in ("lo", end):
            _ip("-n", space, "link", "set", device, "up")
        _ip("link", "set", cable, "up")

    def _remove(self) -> None:
        for each in self._sockets:
            each.close()
        for words in (
            *(("link", "del", cable) for cable in self._cables),
            *(("netns", "del", space) for space in self.names),
        ):
            subprocess.run(["ip", *words], check=False, capture_output=True)

    def _forward(self) -> None:
        """Relay frames until the link is over: each due after its delay, in the order in which they came."""
        one, other = self._sockets
        across = {one: other, other: one}
        waiting: list[tuple[float, int, socket.socket, bytes]] = []
        while not self._is_over.is_set():
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _, _, target, frame = heapq.heappop(waiting)
                try:
                    target.send(frame)
                except OSError:  # its buffer is full, as that of a radio may be
                    self.lost += 1
            patience = min(0.1, waiting[0][0] - now) if waiting else 0.1
            for source in select.select(self._sockets, [], [], max(0.0, patience))[0]:
                frame, address = source.recvfrom(FRAME_BYTES)
                if address[2] == socket.PACKET_OUTGOING:  # what was sent by this relay
                    continue
                self.frames += 1
                if self._random.random() < self._loss:
                    self.lost += 1
                    continue
                due = time.monotonic() + self._delay
                heapq.heappush(waiting, (due, self.frames, across[source], frame))


def in_network(space: str, words: Sequence[str]) -> list[str]:
    """A command that runs in a network namespace, with shared memory of its own as another machine has."""
    own_memory = 'mount -t tmpfs tmpfs /dev/shm && exec "$@"'
    return ["ip", "netns", "exec", space, "sh", "-c", own_memory, "sh", *words]


def _packets_of(cable: str) -> socket.socket:
    """All frames of a cable, with the header that says which check sums are still to be made."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_FRAMES))
    packets.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE)
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, QUEUE)
    packets.bind((cable, ALL_FRAMES))
    return packets


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
