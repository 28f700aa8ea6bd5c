# SPDX-License-Identifier: BSD-3-Clause
"""The two ways in which a run ends badly: its input was wrong, or the flight itself failed."""


class IapError(Exception):
    """Base of every error that this suite raises on purpose; its text is one line for the user."""


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
