# SPDX-License-Identifier: BSD-3-Clause
"""A blackbox of Betaflight, byte by byte: a header of keys, frames I and P, and events."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

NAMES = (
    "loopIteration", "time", "gyroADC[0]", "gyroADC[1]", "gyroADC[2]", "accSmooth[0]", "accSmooth[1]", "accSmooth[2]",
    "setpoint[3]", "vbatLatest", "motor[0]", "motor[1]", "motor[2]", "motor[3]",
)  # fmt: skip
SIGNED = (0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0)
KEYS = {
    "Data version": "2", "Firmware revision": "Betaflight 4.4.0 (made up)", "I interval": "32", "P interval": "1",
    "gyro_scale": "0x3f800000", "acc_1G": "2048", "motorOutput": "158,2047", "vbatref": "1600",
}  # fmt: skip
PREDICTORS = {"I": (0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 11, 5, 5, 5), "P": (6, 2, *[1] * 12)}
CODES = {"I": (1, 1, *[0] * 7, 3, 1, 0, 0, 0), "P": (9, *[0] * 13)}
PREDICTED = {  # by the last row, the one before, and the own numbers so far
    "I": lambda k, row, _a, _b: {9: 1600, 10: 158, 11: row[10], 12: row[10], 13: row[10]}.get(
        k, 0
    ),
    "P": lambda k, row, a, b: row[0] if k == 0 else 2 * a[1] - b[1] if k == 1 else a[k],
}
END = b"E\xffEnd of log\0"


def unsigned(value: int) -> bytes:
    """A number of 7 bits a byte."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def signed(value: int) -> bytes:
    """The same, with the sign as the lowest bit."""
    return unsigned(((value << 1) ^ (value >> 31)) & 0xFFFFFFFF)


def header(keys: Mapping[str, str] = KEYS) -> bytes:
    """The lines above the frames."""
    lines = {"Product": "Blackbox flight data recorder by Nicholas Sherlock"}
    lines |= {"Field I name": ",".join(NAMES), "Field I signed": ",".join(map(str, SIGNED))}
    for kind in "IP":
        lines[f"Field {kind} predictor"] = ",".join(map(str, PREDICTORS[kind]))
        lines[f"Field {kind} encoding"] = ",".join(map(str, CODES[kind]))
    return b"".join(f"H {key}:{value}\n".encode() for key, value in (lines | dict(keys)).items())


def frame(kind: str, row: Sequence[int], last: Sequence[int], before: Sequence[int]) -> bytes:
    """One frame of a kind I or P."""
    out = kind.encode()
    for k, code in enumerate(CODES[kind]):
        off = row[k] - PREDICTED[kind](k, row, last, before)
        if code == 3:
            out += unsigned(-off & 0x3FFF)
        elif code < 2:
            out += (signed, unsigned)[code](off)
    return out


def blackbox(rows: Iterable[Sequence[int]], keys: Mapping[str, str] = KEYS) -> bytes:
    """One log: rows of whole numbers in the order of `NAMES`, the first of which counts up by one."""
    every, out = int(keys["I interval"]), header(keys)
    last: Sequence[int] = ()
    before: Sequence[int] = ()
    for row in rows:
        kind = "P" if row[0] % every and last else "I"
        out += frame(kind, row, last, before)
        before, last = (last if kind == "P" else row), row
    return out + END


def write_blackbox(home: Path) -> None:
    """A log of a vehicle that hovers and turns."""
    rows = [
        (k, 1000 * k, 90, 0, -180, 0, 0, 2048, 300, 1550, *[630 + k % 10] * 4) for k in range(500)
    ]
    (home / "flight.bbl").write_bytes(blackbox(rows))
