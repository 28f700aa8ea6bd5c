# SPDX-License-Identifier: BSD-3-Clause
"""Encodings of numbers in Betaflight's blackbox [https://betaflight.com/docs/development/Blackbox-Internals].

Every function takes the bytes and the place to read at, and returns the place behind what it has read. Beyond the end
bytes are zero, and the place is beyond the end, so that the frame is refused as a whole.
"""

from numba import njit

from iap_description.arrays import Integers

SIGNED, UNSIGNED, NEGATIVE_14 = 0, 1, 3
GROUP_OF_8, GROUP_OF_3, GROUP_OF_4, NO_BYTES, GROUP_OF_3_VARIED = 6, 7, 8, 9, 10
KNOWN = (SIGNED, UNSIGNED, NEGATIVE_14, GROUP_OF_8, GROUP_OF_3, GROUP_OF_4, NO_BYTES, GROUP_OF_3_VARIED)  # fmt: skip
WIDTHS = {
    GROUP_OF_3: 3,
    GROUP_OF_3_VARIED: 3,
    GROUP_OF_4: 4,
}  # fields of a group, whatever follows
MAX_BYTES = 5  # of a number of 32 bits, 7 a byte


@njit(cache=True)
def byte(data: Integers, at: int) -> int:
    """The byte at a place; zero beyond the end."""
    return int(data[at]) if at < len(data) else 0


@njit(cache=True)
def unsigned(data: Integers, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first, and the place behind it."""
    value = 0
    for k in range(MAX_BYTES):
        b = byte(data, at + k)
        value |= (b & 0x7F) << (7 * k)
        if b < 0x80:
            return value & 0xFFFFFFFF, at + k + 1
    return 0, at + MAX_BYTES


@njit(cache=True)
def signed(data: Integers, at: int) -> tuple[int, int]:
    """A number whose sign is its lowest bit, and the place behind it."""
    value, at = unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at


@njit(cache=True)
def extended(value: int, bits: int) -> int:
    """The lowest bits as a number with a sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@njit(cache=True)
def little(data: Integers, at: int, count: int) -> tuple[int, int]:
    """A number with a sign of some bytes, the lowest first, and the place behind it."""
    value = 0
    for k in range(count):
        value |= byte(data, at + k) << (8 * k)
    return extended(value, 8 * count), at + count


@njit(cache=True)
def group_of_8(data: Integers, at: int, out: Integers) -> int:
    """Up to eight numbers, of which a leading byte says which are not zero; one alone has no such byte."""
    if len(out) == 1:
        out[0], at = signed(data, at)
        return at
    head, at = byte(data, at), at + 1
    for k in range(len(out)):
        out[k] = 0
        if head >> k & 1:
            out[k], at = signed(data, at)
    return at


@njit(cache=True)
def group_of_3(data: Integers, at: int, out: Integers, varied: bool) -> int:
    """Three numbers of 2, 4 or 6 bits, or of whole bytes; varied: of 2, 5 5 4 or 8 7 7 bits."""
    head, at = byte(data, at), at + 1
    kind = head >> 6
    if kind == 0:
        for k in range(3):
            out[k] = extended(head >> (4 - 2 * k), 2)
    elif kind == 3:
        for k in range(3):
            out[k], at = little(data, at, (head >> (2 * k) & 3) + 1)
    elif varied:
        at = _varied(data, at, out, head, kind)
    elif kind == 1:
        b, at = byte(data, at), at + 1
        out[0], out[1], out[2] = extended(head, 4), extended(b >> 4, 4), extended(b, 4)
    else:
        out[0], out[1] = extended(head, 6), extended(byte(data, at), 6)
        out[2], at = extended(byte(data, at + 1), 6), at + 2
    return at


@njit(cache=True)
def _varied(data: Integers, at: int, out: Integers, head: int, kind: int) -> int:
    if kind == 1:
        bits = head << 8 | byte(data, at)
        out[0], out[1], out[2] = extended(bits >> 9, 5), extended(bits >> 4, 5), extended(bits, 4)
        return at + 1
    bits = head << 16 | byte(data, at) << 8 | byte(data, at + 1)
    out[0], out[1], out[2] = extended(bits >> 14, 8), extended(bits >> 7, 7), extended(bits, 7)
    return at + 2


@njit(cache=True)
def group_of_4(data: Integers, at: int, out: Integers, version: int) -> int:
    """Four numbers of 0, 4, 8 or 16 bits; from data version 2 on they follow each other by half bytes."""
    head, at = byte(data, at), at + 1
    if version < 2:
        return _whole_bytes(data, at, out, head)
    half = 2 * at
    for k in range(4):
        width = (0, 1, 2, 4)[head >> (2 * k) & 3]  # half bytes
        value = 0
        for _ in range(width):
            b = byte(data, half >> 1)
            value = value << 4 | (b & 15 if half & 1 else b >> 4)
            half += 1
        out[k] = extended(value, 4 * width) if width else 0
    return half + 1 >> 1


@njit(cache=True)
def _whole_bytes(data: Integers, at: int, out: Integers, head: int) -> int:
    """The same of data version 1: numbers of 4 bits come in pairs."""
    k = 0
    while k < 4:
        kind = head >> (2 * k) & 3
        out[k] = 0
        if kind == 1:
            b, at = byte(data, at), at + 1
            out[k] = extended(b, 4)
            if k < 3:
                out[k + 1] = extended(b >> 4, 4)
            k += 1
        elif kind > 1:
            out[k], at = little(data, at, kind - 1)
        k += 1
    return at


@njit(cache=True)
def fields(data: Integers, at: int, codes: Integers, version: int, out: Integers) -> int:
    """The numbers of a frame by the encodings of its fields, and the place behind them."""
    k = 0
    while k < len(codes):
        code, width = codes[k], 1
        if code == SIGNED:
            out[k], at = signed(data, at)
        elif code == UNSIGNED:
            out[k], at = unsigned(data, at)
        elif code == NEGATIVE_14:
            value, at = unsigned(data, at)
            out[k] = -extended(value, 14)
        elif code == NO_BYTES:
            out[k] = 0
        elif code == GROUP_OF_8:
            while width < 8 and k + width < len(codes) and codes[k + width] == code:
                width += 1
            at = group_of_8(data, at, out[k : k + width])
        elif code == GROUP_OF_4:
            width = 4
            at = group_of_4(data, at, out[k : k + width], version)
        else:
            width = 3
            at = group_of_3(data, at, out[k : k + width], code == GROUP_OF_3_VARIED)
        k += width
    return at
