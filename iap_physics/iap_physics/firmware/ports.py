# SPDX-License-Identifier: BSD-3-Clause
"""Sockets on this machine's own address: bound at a fixed port, or refused by name."""

import socket

from iap_physics.firmware.firmware import FirmwareFailed

HOST, LAST = "127.0.0.1", 65_535


def bound_socket(port: int, kind: socket.SocketKind) -> socket.socket:
    """A socket of a kind at a port of this machine's own address.

    Raises:
        FirmwareFailed: the port is in use, or is none.
    """
    if not 0 < port <= LAST:
        raise FirmwareFailed(
            "port_in_use",
            f"port {port} is not from 1 to {LAST}: choose another by key 'firmware.port'",
        )
    out = socket.socket(socket.AF_INET, kind)
    if kind == socket.SOCK_STREAM:  # connections that were closed linger for a minute
        out.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        out.bind((HOST, port))
    except OSError as error:
        out.close()
        raise FirmwareFailed(
            "port_in_use",
            f"port {port} is in use: end what uses it, or choose another by key 'firmware.port'",
        ) from error
    return out


def is_free(port: int, kind: socket.SocketKind) -> bool:
    """True if a port of this machine's own address is not in use."""
    try:
        bound_socket(port, kind).close()
    except FirmwareFailed:
        return False
    return True
