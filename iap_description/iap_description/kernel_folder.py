# SPDX-License-Identifier: BSD-3-Clause
"""The folder in which numba keeps compiled kernels, and the stamps by which it sees that one is out of date.

An installation by pip keeps them in a folder of the user's own, never among the packages. ``./iap`` sets the variable
``NUMBA_CACHE_DIR`` itself; who has set it, or runs a checkout without it, is left alone.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"  # which numba reads when it is imported
SITE = Path(__file__).parents[1]
LOCATORS = "NUMBA_CACHE_LOCATOR_CLASSES"  # which numba reads, too
STAMPED = ",".join(
    [f"iap_description.process.kernel_stamps.{name}" for name in ("ChosenFolder", "BesideSource")]
    + ["UserWideCacheLocator", "IPythonCacheLocator", "ZipCacheLocator"]  # numba's own
)


def set_kernel_stamps() -> None:
    """Let numba compile anew what an edited kernel of another file is part of."""
    os.environ.setdefault(LOCATORS, STAMPED)
    _reload()


def set_kernel_folder() -> None:
    """Let numba keep machine code in a folder of this user, this version of the suite and these files."""
    if VARIABLE in os.environ:
        return
    key = installed_files()
    if key is None:
        return
    folder = writable(user_cache() / "iap" / "kernels" / key)
    os.environ[VARIABLE] = str(folder)
    _reload()


def _reload() -> None:
    """Let numba read its variables again, if it was imported before the suite."""
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()


def installed_files() -> str | None:
    """A key of all files of the suite that pip has installed beside this one; None in a checkout."""
    records = sorted(SITE.glob("iap_*.dist-info/RECORD"))
    if not records:
        return None
    return hashlib.sha256(b"".join(path.read_bytes() for path in records)).hexdigest()[:16]


def user_cache() -> Path:
    """The folder for caches of this user, as this system has it."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    named = os.environ.get(variable, "")
    return Path(named) if named else Path(os.path.expanduser("~")) / ".cache"


def writable(folder: Path) -> Path:
    """The folder, or one among the temporary files where it cannot be written.

    Who can write there can have code run, so that no folder is used which others have made.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    for place in (folder, Path(tempfile.gettempdir(), f"iap-{user}", folder.name)):
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
        except OSError:
            continue
        if place == folder or place.parent.stat().st_uid == user:
            return place
    return Path(tempfile.mkdtemp(prefix="iap-kernels-"))
