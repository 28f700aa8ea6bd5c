# SPDX-License-Identifier: BSD-3-Clause
"""LLVM for Mitsuba's vectorised variants."""

import ctypes
import os
from pathlib import Path

VARIABLE = "DRJIT_LIBLLVM_PATH"  # where Mitsuba takes its library from
VERSION = 19  # of LLVM: with 15 a process that renders is aborted, others are not tried
FOLDERS = (
    f"/usr/lib/llvm-{VERSION}/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
)
PACKAGE = f"libllvm{VERSION}"


def find_llvm() -> str | None:
    """Path of the library that the user names, or of a fitting one of the system; None where there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named if Path(named).is_file() else None
    for folder in FOLDERS:
        for path in sorted(Path(folder).glob(f"libLLVM*{VERSION}*")):
            if path.is_file() and _version(path) == VERSION:
                return str(path)
    return None


def _version(path: Path) -> int | None:
    """Major version of a library of LLVM; None of anything else."""
    major = ctypes.c_uint()
    try:
        ctypes.CDLL(str(path)).LLVMGetVersion(ctypes.byref(major), None, None)
    except (OSError, AttributeError):
        return None
    return major.value
