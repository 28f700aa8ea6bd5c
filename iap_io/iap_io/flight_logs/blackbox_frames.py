# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a blackbox: the numbers of each by its predictors, without those that are damaged.

A frame is sound where the next one's letter, or the end, stands behind it, and where its iteration and its time follow
those of the last one. Behind a damaged frame, the changes of frames P are unknown: all wait for a whole frame I.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Integers
from iap_io.flight_logs.blackbox_codes import byte, fields, signed, unsigned

PREVIOUS, STRAIGHT, AVERAGE, MIN_THROTTLE, FIRST_MOTOR, INCREMENT = 1, 2, 3, 4, 5, 6
MIDDLE, REFERENCE_VOLTAGE, MIN_MOTOR = 8, 9, 11
KNOWN = (
    0, PREVIOUS, STRAIGHT, AVERAGE, MIN_THROTTLE, FIRST_MOTOR, INCREMENT, MIDDLE, REFERENCE_VOLTAGE, MIN_MOTOR,
)  # fmt: skip
ITERATION, TIME = 0, 1  # fields
LONGEST_FRAME = 256  # bytes
LONGEST_STEP = (5000, 10_000_000)  # iterations, and time [us], from one sound frame to the next
I, P, G, H, S, E = (ord(letter) for letter in "IPGHSE")  # noqa: E741 - as the format has them
KIND_G, KIND_H = 2, 3  # rows of their encodings
SOUND, DAMAGED, UNFOUNDED, ENDED = 0, 1, 2, 3  # of frames
SYNC, INFLIGHT, RESUME, DISARM, GTUNE, MODE, END = 0, 13, 14, 15, 20, 30, 255  # events
FIXED = ((10, 5), (11, 4), (12, 8))  # events of so many bytes
END_TEXT = np.frombuffer(b"End of log", dtype=np.uint8)


class FrameLayout(NamedTuple):
    """Encodings of the frames of one log.

    Attributes:
        codes: (5, n) encodings of the frames I, P, G, H, S.
        counts: (5,) numbers of their fields.
        predictors: (2, n) of the frames I and P.
        is_signed: (n,) of the frames I.
        constants: least throttle, reference of the voltage, least motor, field of the first motor.
        intervals: iterations from one frame I to the next, and share of iterations with a frame P: so many of so many.
        version: of the data.
    """

    codes: Integers
    counts: Integers
    predictors: Integers
    is_signed: Integers
    constants: Integers
    intervals: Integers
    version: int


@njit(cache=True)
def decoded(
    data: Integers, layout: FrameLayout, out: Integers, fixes: Integers
) -> tuple[int, int, int, int]:
    """Write the sound frames of the bytes behind a log's header.

    Args:
        data: bytes (K,).
        layout: of frames.
        out: (rows, n) of frames I and P, that are filled from the first on.
        fixes: (most, 2 + h + g) likewise of frames G: the row of the frame I or P before, how many frames H have come,
            the numbers of the last one, and those of the frame itself, both as they stand there.

    Returns:
        Numbers of rows, of fixes, of damaged frames, and of frames P whose frame I was damaged.
    """
    at, rows, found, damaged, unfounded = 0, 0, 0, 0, 0
    others = np.zeros(layout.codes.shape, np.int64)
    homes, came = layout.counts[KIND_H], 0
    home = np.zeros(homes, np.int64)
    last = np.array([-1, -1])  # iteration and time of the last sound frame
    history = np.zeros((2, out.shape[1]), np.int64)  # the last frame, and the one before
    is_founded = False
    while at < len(data) and rows < len(out):
        letter = byte(data, at)
        end, is_end = _end_of(data, at, letter, layout, out[rows], others, last)
        if is_end:
            break
        if end < 0:
            damaged += letter in (I, P)
            is_founded = False
            at += 1
            continue
        if letter in (I, P):
            verdict = _judged(letter, layout, out[rows], history, last, is_founded)
            is_founded = verdict == SOUND
            rows += verdict == SOUND
            damaged += verdict == DAMAGED
            unfounded += verdict == UNFOUNDED
        elif letter == H:
            home[:] = others[KIND_H, :homes]
            came += 1
        elif letter == G and is_founded and found < len(fixes):  # else the time is not known
            fixes[found, 0], fixes[found, 1], fixes[found, 2 : 2 + homes] = rows - 1, came, home
            fixes[found, 2 + homes :] = others[KIND_G, : layout.counts[KIND_G]]
            found += 1
        at = end
    return rows, found, damaged, unfounded


@njit(cache=True)
def _end_of(
    data: Integers,
    at: int,
    letter: int,
    layout: FrameLayout,
    row: Integers,
    others: Integers,
    last: Integers,
) -> tuple[int, bool]:
    """The place behind a frame, -1 of one that is damaged, and whether the log ends here.

    Numbers of frames I and P go to `row`, those of other kinds to theirs of `others`.
    """
    if letter == E:
        end, is_end = _event(data, at + 1, last)
        if is_end:
            return end, True
    else:
        kind = _kind(letter)
        if kind < 0:
            return -1, False
        codes = layout.codes[kind, : layout.counts[kind]]
        numbers = row if kind < 2 else others[kind, : len(codes)]
        end = fields(data, at + 1, codes, layout.version, numbers)
    is_followed = end == len(data) or (
        end < len(data) and (_kind(byte(data, end)) >= 0 or byte(data, end) == E)
    )
    return (end if is_followed and end - at <= LONGEST_FRAME else -1), False


@njit(cache=True)
def _kind(letter: int) -> int:
    """Number of a kind of frames with fields; -1 of none."""
    for k, each in enumerate((I, P, G, H, S)):
        if letter == each:
            return k
    return -1


@njit(cache=True)
def _event(data: Integers, at: int, last: Integers) -> tuple[int, bool]:
    """The place behind an event, beyond the end of one that is not known, and whether the log ends with it."""
    kind, at = byte(data, at), at + 1
    if kind == END:
        text = data[at : at + len(END_TEXT)]
        return at, len(text) == len(END_TEXT) and bool((text == END_TEXT).all())
    if kind == RESUME:
        iteration, at = unsigned(data, at)
        last[1], at = unsigned(data, at)
        last[0] = iteration
        return at, False
    if kind == SYNC or kind == DISARM:
        return unsigned(data, at)[1], False
    if kind == MODE:
        return unsigned(data, unsigned(data, at)[1])[1], False
    if kind == INFLIGHT:
        is_float = byte(data, at) >= 0x80
        return (at + 5 if is_float else signed(data, at + 1)[1]), False
    if kind == GTUNE:
        return signed(data, at + 1)[1] + 2, False
    for number, size in FIXED:
        if kind == number:
            return at + size, False
    return len(data) + 1, False


@njit(cache=True)
def _judged(
    letter: int,
    layout: FrameLayout,
    row: Integers,
    history: Integers,
    last: Integers,
    is_founded: bool,
) -> int:
    """Turn a frame's differences into its numbers, and say whether it is sound; keeps it if it is."""
    if letter == P and not is_founded:
        return UNFOUNDED
    skipped = _skipped(last[ITERATION], layout.intervals) if letter == P else 0
    predictors = layout.predictors[0 if letter == I else 1]
    for k in range(len(row)):
        guess = _guess(predictors[k], k, row, history, layout, skipped)
        value = row[k] + guess & 0xFFFFFFFF
        row[k] = value - (1 << 32) if layout.is_signed[k] and value >> 31 else value
    for k in (ITERATION, TIME):
        step = row[k] - last[k] & 0xFFFFFFFF if k == TIME else row[k] - last[k]
        if last[ITERATION] >= 0 and not 0 <= step < LONGEST_STEP[k]:
            if letter == I:  # if it was sound and the clock has leapt, the next one follows it
                last[0], last[1] = row[ITERATION], row[TIME]
            return DAMAGED
    history[1] = row if letter == I else history[0]
    history[0] = row
    last[0], last[1] = row[ITERATION], row[TIME]
    return SOUND


@njit(cache=True)
def _skipped(iteration: int, intervals: Integers) -> int:
    """Iterations behind one that are not logged, by the intervals of frames."""
    every, share, of = intervals[0], intervals[1], intervals[2]
    count = 0
    following = iteration + 1
    while following % every and (following % every + share - 1) % of >= share:
        count += 1
        following += 1
    return count


@njit(cache=True)
def _guess(
    predictor: int, k: int, row: Integers, history: Integers, layout: FrameLayout, skipped: int
) -> int:
    """The number that a field's difference is from."""
    throttle, voltage, motor, first = layout.constants
    a, b = history[0, k], history[1, k]
    if predictor == PREVIOUS:
        return a
    if predictor == STRAIGHT:
        return 2 * a - b
    if predictor == AVERAGE:
        total = a + b
        return total // 2 if total >= 0 else -(-total // 2)
    if predictor == MIN_THROTTLE:
        return throttle
    if predictor == FIRST_MOTOR:
        return row[first]
    if predictor == INCREMENT:
        return a + 1 + skipped
    if predictor == MIDDLE:
        return 1500
    if predictor == REFERENCE_VOLTAGE:
        return voltage
    return motor if predictor == MIN_MOTOR else 0
