# SPDX-License-Identifier: BSD-3-Clause
"""The messages of simulation_interfaces (1.5 and later), where that package is installed, and its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from simulation_interfaces import msg, srv

    srv.GetCurrentWorld  # noqa: B018 - of versions 1.5 and later
except (ImportError, AttributeError):
    if not TYPE_CHECKING:
        msg = srv = None


def ok() -> msg.Result:
    """The result of what was done."""
    return result(msg.Result.RESULT_OK, "")


def result(code: int, message: str) -> msg.Result:
    """A result with a code of msg.Result or of the service, and a message for the user."""
    return msg.Result(result=code, error_message=message)
