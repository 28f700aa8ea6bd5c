# SPDX-License-Identifier: BSD-3-Clause
"""A part of a recorded command in EuRoC's layout, as a recording of its own."""

from pathlib import Path

from iap_description.config.text_files import read_text
from iap_description.errors import BadInput

NANO = 1e-9  # of a stamp [s]


def cut(recording: Path, since: float, folder: Path) -> Path:
    """Write what a CSV file in EuRoC's layout has from a time after its first stamp on [s]; returns the new file.

    Raises:
        BadInput: it is no such file, or ends before that time.
    """
    if recording.suffix != ".csv":
        raise BadInput(f"--since {since:g}: {recording.name} is no CSV file")
    lines = read_text(recording).splitlines(keepends=True)
    rows = [line for line in lines if line.strip() and not line.startswith("#")]
    try:
        stamps = [NANO * int(line.partition(",")[0]) for line in rows]
    except ValueError as error:
        raise BadInput(f"{recording}: a line does not begin with a stamp in ns") from error
    kept = [row for row, t in zip(rows, stamps, strict=True) if t >= stamps[0] + since]
    if len(kept) < 2:
        raise BadInput(f"--since {since:g}: {recording.name} has nothing after that time")
    head = [line for line in lines if line.startswith("#")]
    path = folder / f"{recording.stem}_{since:g}s.csv"
    path.write_text("".join(head + kept), encoding="utf-8")
    return path
