# SPDX-License-Identifier: BSD-3-Clause
"""Times of tables as other programs write them: numbers, dates, times of day, and minutes of an hour."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from iap_description.errors import BadInput, shown

_MINUTES = re.compile(r"(\d{1,2}):(\d{2}\.\d+)")  # as spreadsheets show times, without the hour
_NS = 10**9
_HOUR, _DAY = 3600 * _NS, 86400 * _NS


def time_text(path: Path, number: int, texts: Sequence[str]) -> str:
    """A time as digits: seconds and nanoseconds in one, or of a date and time of day [ns].

    Raises:
        BadInput: it is none.
    """
    text = texts[0].replace(",", ".")
    try:
        if len(texts) > 1:
            return str(int(text) * _NS + int(texts[1]))
        if minutes := _MINUTES.fullmatch(text):
            return str(int(minutes[1]) * 60 * _NS + round(float(minutes[2]) * 1e9))
        if ":" in text:
            date = datetime.fromisoformat(text if "-" in text else f"1970-01-02T{text}")
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            return str(int(date.timestamp()) * _NS + date.microsecond * 1000)
        float(text)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"{path}: line {number}: time is {shown(' '.join(texts))}, not a number, nor a date as"
            " 2024-05-31T09:41:07.25"
        ) from error
    return text


def unwrapped(written: Sequence[str], times: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Times that go on through midnight, or through a full hour where they are minutes.

    Args:
        written: the times as they stand in the table.
        times: numbers of lines and the same as digits, see `time_text`.
    """
    if any(":" not in text or "-" in text for text in written):
        return times
    turn = _HOUR if all(map(_MINUTES.fullmatch, (x.replace(",", ".") for x in written))) else _DAY
    added, before, out = 0, None, []
    for number, text in times:
        if before is not None and int(text) < before - turn // 2:
            added += turn
        before = int(text)
        out.append((number, str(before + added)))
    return out
