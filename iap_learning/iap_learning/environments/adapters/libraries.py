# SPDX-License-Identifier: BSD-3-Clause
"""The error of an adapter whose library is not installed: none of them is a requirement of the suite."""

import sys

from iap_description.errors import BadInput


def missing_library(error: ModuleNotFoundError, adapter: str, distribution: str) -> BadInput:
    """The error of a module that an adapter imports, with the command that installs it.

    Args:
        error: of the import.
        adapter: name of its module, without those of the packages.
        distribution: name by which pip knows the library.
    """
    library, command = (error.name or "").partition(".")[0], f"{sys.executable} -m pip install"
    return BadInput(
        f"adapter '{adapter}' needs {library}, which is not installed: {command} {distribution}"
    )
