# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in NumPy's files (.npz), which may be anybody's: bounded before memory is asked for, without objects."""

import io
import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.config.text_files import check_file, reason_of
from iap_description.errors import BadInput, shown

MAX_ARRAYS = 1 << 29  # bytes of all arrays of a file, uncompressed
MAX_MEMBERS = 10_000
# what numpy meets in damaged bytes of a .npy or .npz file
DAMAGE = (
    OSError, ValueError, EOFError, TypeError, OverflowError, KeyError, SyntaxError, tokenize.TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
KINDS = "biufU"  # of numpy's types: numbers and texts
_ENCRYPTED = 0x1  # flag of a member


def read_arrays(path: Path, noun: str) -> dict[str, NDArray[Any]]:
    """Arrays of a file by their names.

    Args:
        path: of the file.
        noun: what it shall be, for errors, such as ``a policy's file``.

    Raises:
        BadInput: it cannot be read, is damaged, encrypted or packed by a method other than deflate; holds more than
            `MAX_ARRAYS` bytes, or arrays other than of numbers and texts.
    """
    check_file(path, MAX_ARRAYS)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_members(members)
            return {each.filename.removesuffix(".npy"): _array(archive, each) for each in members}
    except (
        Exception
    ) as error:  # zipfile, zlib and numpy raise whatever damaged bytes make them meet
        raise BadInput(f"{path}: not {noun}, or damaged: {reason_of(error)}") from error


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    """Refuse what cannot be unpacked, or would become too large."""
    if len(members) > MAX_MEMBERS or sum(each.file_size for each in members) > MAX_ARRAYS:
        raise ValueError(f"more than {MAX_MEMBERS} arrays, or than {MAX_ARRAYS >> 20} MiB of them")
    names = [each.filename for each in members]
    if len(set(names)) < len(names):
        raise ValueError("a name is given twice")
    for each in members:
        if each.flag_bits & _ENCRYPTED:
            raise ValueError(f"{shown(each.filename)} is encrypted")
        if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{shown(each.filename)} is packed by a method other than deflate")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """The array in a member, whose header may say anything of its size."""
    file = io.BytesIO(archive.read(member))
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{shown(member.filename)} has another format of arrays: {version}")
    read = np.lib.format.read_array_header_1_0
    shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    if dtype.kind not in KINDS or dtype.names is not None:
        raise ValueError(f"{shown(member.filename)} holds neither numbers nor text")
    left = len(file.getbuffer()) - file.tell()
    if min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"{shown(member.filename)} has {left} bytes, not those of shape {shape}")
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
