# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA Warp itself, an extra: the only module that imports it (others take `wp` from here)."""

from iap_description.process.extras import missing

try:
    import warp as wp
except ModuleNotFoundError as error:
    raise missing(error.name, "rays on a GPU need", "gpu") from error

wp.config.log_level = wp.LOG_ERROR  # it greets otherwise, and misses a GPU that nobody asked for
wp.config.enable_backward = False  # no gradients: half of the compilation

__all__ = ["wp"]
