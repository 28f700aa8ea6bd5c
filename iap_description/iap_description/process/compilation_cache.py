# SPDX-License-Identifier: BSD-3-Clause
"""Notices damage in the files in which numba keeps machine code, and lets numba compile anew what they held.

numba unpickles these files as they are, so that each later process would end in an error of pickle's, or worse run what
is left of the code, until somebody removes them. And two processes that keep code of the same function at the same time
would each give it the next free name, so that one reads the other's.
"""

import fcntl
import os
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

from numba.core import caching

MARK = b"crc:"  # in front of the checksum at a file's end, behind what pickle reads


class CheckedCacheFile(caching.IndexDataCacheFile):
    """One function's index and data files, with a checksum; those of other processes have none and are still read."""

    def save(self, key: Any, data: Any) -> None:  # noqa: ANN401 - numba's
        """Keep what was compiled, one process at a time."""
        folder = os.open(self._cache_path, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            super().save(key, data)
        finally:
            os.close(folder)

    def _dump(self, obj: object) -> bytes:
        body: bytes = super()._dump(obj)
        return body + MARK + crc32(body).to_bytes(4, "little")

    def _load_index(self) -> dict[Any, str]:
        try:
            overloads = super()._load_index()
            if isinstance(overloads, dict):
                return overloads
        except OSError:
            raise
        except Exception:  # pickle raises anything on bytes that are not its own
            overloads = None
        _tell(self._index_path)
        return {}

    def _load_data(self, name: str) -> Any:  # noqa: ANN401 - numba's
        path = Path(self._data_path(name))
        data = path.read_bytes()
        is_whole = data[-8:-4] != MARK or crc32(data[:-8]) == int.from_bytes(data[-4:], "little")
        try:
            if is_whole:
                return super()._load_data(name)
        except OSError:
            raise
        except Exception:  # as above
            is_whole = False
        _tell(path)
        raise OSError(f"{path}: damaged")  # numba takes such a file for missing


def check_compilation_cache() -> None:
    """Check what numba reads from its cache from now on; call it before any kernel is imported."""
    vars(caching).update(IndexDataCacheFile=CheckedCacheFile)  # as in kernel_stamps


def _tell(path: str | Path) -> None:
    sys.stderr.write(f"iap: {path}: damaged, is compiled anew\n")
