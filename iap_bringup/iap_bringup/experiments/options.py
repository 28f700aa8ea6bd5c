# SPDX-License-Identifier: BSD-3-Clause
"""Options of a study."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ExperimentOptions:
    """What the command line asks of a study.

    Attributes:
        quick: less of it, in minutes.
        flights: recordings in place of the flights by hand.
        out: new folder for its results; None is the next free one in ``runs``.
    """

    quick: bool = False
    flights: Path | None = None
    out: Path | None = None
