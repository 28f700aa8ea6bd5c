# SPDX-License-Identifier: BSD-3-Clause
"""The name by which the command line is called."""

import os


def program() -> str:
    """The word before a command: as ``./iap`` of a checkout was typed, elsewhere `iap`."""
    return os.environ.get("IAP_PROGRAM", "iap")
