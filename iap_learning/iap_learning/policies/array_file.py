# SPDX-License-Identifier: BSD-3-Clause
"""Files of named arrays with a header in JSON (``.npz``); equal ones have equal bytes."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.config.array_files import read_arrays
from iap_description.config.json_files import parse_json
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
        BadInput: there is none, or it is cut short or damaged.
    """
    arrays = read_arrays(file, what)
    if HEADER not in arrays:
        raise BadInput(f"{file}: array '{HEADER}' is missing")
    header = parse_json(str(arrays.pop(HEADER)), source=f"{file}: {HEADER}")
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            raise BadInput(f"{file}: array '{name}': holds no numbers")
    return header, arrays
