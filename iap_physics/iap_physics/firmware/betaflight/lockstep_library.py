# SPDX-License-Identifier: BSD-3-Clause
"""The library that steps Betaflight: compiled at its first use by the C compiler of this machine, and kept."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from iap_description.errors import BadInput
from iap_description.kernel_folder import user_cache, writable

SOURCE = Path(__file__).parents[2] / "data" / "firmware" / "lockstep.c"
FLAGS = ("-O2", "-shared", "-fPIC")
LIBRARIES = ("-ldl", "-lpthread")


def firmware_cache() -> Path:
    """The user's folder of what is made once for firmwares."""
    return writable(user_cache() / "iap" / "firmware")


def lockstep_library() -> Path:
    """The compiled library.

    Raises:
        BadInput: there is no compiler, or it fails.
    """
    source = SOURCE.read_bytes()
    out = firmware_cache() / f"lockstep_{hashlib.sha256(source).hexdigest()[:16]}.so"
    if out.is_file():
        return out
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise BadInput(
            "key 'firmware': Betaflight needs a C compiler, for the library that moves its ports and its clock:"
            " install gcc"
        )
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        made = Path(folder, out.name)
        command = [compiler, *FLAGS, "-o", str(made), str(SOURCE), *LIBRARIES]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise BadInput(f"{compiler} cannot compile {SOURCE}: {result.stderr.strip()}")
        made.replace(out)
    return out
