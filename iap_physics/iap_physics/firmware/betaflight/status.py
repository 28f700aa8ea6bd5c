# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's own word on whether it is armed, and on what is in the way of it, by MSP over TCP."""

import socket
import struct

STATUS, HEAD = 150, 5  # MSP_STATUS_EX, bytes before an answer's body
FLAGS = (
    "NOGYRO FAILSAFE RXLOSS NOT_DISARMED BOXFAILSAFE RUNAWAY CRASH THROTTLE ANGLE BOOTGRACE NOPREARM LOAD CALIB"
    " CLI CMS BST MSP PARALYZE GPS RESCUE_SW DSHOT_TELEM REBOOT_REQD DSHOT_BBANG ACC_CALIB MOTOR_PROTO CRASHFLIP"
    " ALTHOLD POSHOLD ARMSWITCH"
).split()


def request() -> bytes:
    """The request of its status."""
    return b"$M<" + bytes((0, STATUS, STATUS))


def received(line: socket.socket) -> bytes:
    """What has come on a line that does not wait."""
    try:
        return line.recv(4096)
    except BlockingIOError:
        return b""


def is_whole(answer: bytes) -> bool:
    """True if an answer is there as a whole."""
    return len(answer) > HEAD and len(answer) >= HEAD + answer[3] + 1


def arming_flags(answer: bytes) -> list[str]:
    """Names of the flags that are in the way of arming, in a whole answer."""
    body = answer[HEAD:]
    (flags,) = struct.unpack_from("<I", body, 17 + (body[15] & 0x0F))
    return [name for i, name in enumerate(FLAGS) if flags >> i & 1]
