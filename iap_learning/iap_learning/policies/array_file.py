# SPDX-License-Identifier: BSD-3-Clause
"""Files of named arrays with a header in JSON (``.npz``); equal ones have equal bytes."""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.errors import BadInput

HEADER = "header"  # name of the array that is the header's text


def array_file_bytes(header: str, arrays: Mapping[str, np.ndarray]) -> bytes:
    """A file's bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, **{HEADER: np.array(header)}, **arrays)  # type: ignore[arg-type] # of no other keys
    return buffer.getvalue()


def read_array_file(file: Path, what: str) -> tuple[Any, dict[str, np.ndarray]]:
    """The header and the arrays of a file; `what` names it in errors.

    Raises:
        BadInput: it is none, or cut short or damaged.
        FileNotFoundError: there is none.
    """
    try:  # NumPy leaves a file open that it opened itself and cannot read
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise BadInput(f"{file}: not {what}, or cut short or damaged: {error}") from error
    if HEADER not in arrays:
        raise BadInput(f"{file}: array '{HEADER}' is missing")
    try:
        return json.loads(str(arrays.pop(HEADER))), arrays
    except ValueError as error:
        raise BadInput(f"{file}: header: not JSON: {error}") from error
