# SPDX-License-Identifier: BSD-3-Clause
"""The two ways in which a run ends badly: its input was wrong, or the flight itself failed."""

import reprlib

MAX_ERROR_CHARACTERS = 1000  # characters of an error's line
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple = 3, 16, 16


def shown(value: object) -> str:
    """A value from a user's file for an error's line, its beginning and its end where it is long."""
    return _SHORT.repr(value)


class IapError(Exception):
    """Base of every error that this suite raises on purpose; its text is one line for the user.

    What users give stands in such texts: line ends in it become spaces, and the middle of an endless one is left out.
    """

    def __init__(self, text: str = "") -> None:
        """Make the text one line."""
        line = " ".join(part.strip() for part in text.splitlines())
        if len(line) > MAX_ERROR_CHARACTERS:
            line = f"{line[: MAX_ERROR_CHARACTERS // 2]} ... {line[-MAX_ERROR_CHARACTERS // 2 :]}"
        super().__init__("".join(map(_printable, line)))


def _printable(character: str) -> str:
    """A character, or what stands for one that would do something to a terminal."""
    return character if character.isprintable() else " " if character.isspace() else "?"


class BadInput(IapError):
    """The user's input cannot be used. The text names the file, the key and the value."""


class FlightFailed(IapError):
    """The flight ended before its time, e.g. by a crash or by divergence.

    Attributes:
        outcome: one word for metrics.json, such as ``diverged``.
        t: simulation time of the failure [s].
    """

    def __init__(self, outcome: str, t: float, reason: str) -> None:
        """Store the evidence; ``reason`` is the sentence shown to the user."""
        super().__init__(f"{outcome} at t = {t:.3f} s: {reason}")
        self.outcome = outcome
        self.t = t


class RenamedKey(FutureWarning):
    """A key or value was named by the name that it had in the version before, which the next one no longer reads."""
