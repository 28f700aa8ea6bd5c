# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA Warp itself, an extra: the only module that imports it (others take `wp` from here)."""

INSTALL = ".venv/bin/python -m pip install --require-hashes -r requirements/lock/gpu.txt"

try:
    import warp as wp
except ImportError as error:
    raise ImportError(f"Warp is an extra; get it by {INSTALL}") from error

wp.config.log_level = wp.LOG_ERROR  # it greets otherwise, and misses a GPU that nobody asked for
wp.config.enable_backward = False  # no gradients: half of the compilation

__all__ = ["wp"]
