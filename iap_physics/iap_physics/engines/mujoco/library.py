# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo itself, an extra: the only module that imports it (others take `mj` and `mj_batch` from here)."""

INSTALL = ".venv/bin/python -m pip install --require-hashes -r requirements/lock/mujoco.txt"

try:
    import mujoco as mj
    import mujoco.batch as mj_batch
except ImportError as error:
    raise ImportError(f"MuJoCo is an extra; get it by {INSTALL}") from error

__all__ = ["mj", "mj_batch"]
