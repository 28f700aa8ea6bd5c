# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo itself, an extra: the only module that imports it (others take `mj` from here)."""

INSTALL = (
    ".venv/bin/python -m pip install --require-hashes -r requirements/lock/mujoco.txt"
)

try:
    import mujoco as mj
except ImportError as error:
    raise ImportError(f"MuJoCo is an extra; get it by {INSTALL}") from error

__all__ = ["mj"]
