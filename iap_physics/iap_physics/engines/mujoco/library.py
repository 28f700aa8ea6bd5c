# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo itself, an extra: others take `mj` from here."""

import ctypes
import logging
from pathlib import Path

from iap_description.process.extras import missing

try:
    import mujoco as mj
except ModuleNotFoundError as error:
    raise missing(error.name, "engine 'mujoco' needs", "mujoco") from error

LIBRARY = next(Path(mj.__file__).parent.glob("libmujoco.*"))  # the C library
UNSTABLE = "The simulation is unstable"  # in a warning of numbers that engines look at themselves
_log = logging.getLogger(__name__)


def _warn(text: str) -> None:
    """Hand on a warning, which MuJoCo would write into a file of the present folder."""
    if UNSTABLE not in text:
        _log.warning("MuJoCo: %s", text)


def _stop_clock() -> None:
    """Let MuJoCo time nothing: nobody reads it, and its binding's clock takes a twentieth of a small world's step.

    By the C library's own variable, since `set_mjcb_time(None)` leaves the binding's clock where it is.
    """
    ctypes.c_void_p.in_dll(ctypes.CDLL(str(LIBRARY)), "mjcb_time").value = None


mj.set_mju_user_warning(_warn)
_stop_clock()

__all__ = ["LIBRARY", "mj"]
