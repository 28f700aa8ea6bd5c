# SPDX-License-Identifier: BSD-3-Clause
"""The folder of compiled kernels in an installation by pip, and the lines printed while they are compiled."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba import config

from iap_description import kernel_folder
from iap_description.math.kernels import rotate
from iap_description.process.compiling import CompilationNotice

VARIABLE = kernel_folder.VARIABLE


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages that pip has installed, of a user with a home."""
    record = tmp_path / "site" / "iap_io-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("iap_io/a.py,sha256=1,2\n")
    monkeypatch.setattr(kernel_folder, "SITE", tmp_path / "site")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(config, "CACHE_DIR", config.CACHE_DIR)  # which the tests change
    return record


def folder():
    kernel_folder.set_kernel_folder()
    return Path(os.environ.pop(VARIABLE))


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is Linux's")
def test_kernels_are_kept_in_the_users_cache_until_a_file_of_the_suite_changes(site, tmp_path):
    before = folder()
    assert before.parent == tmp_path / "cache" / "iap" / "kernels"
    assert folder() == before
    site.write_text("iap_io/a.py,sha256=3,2\n")
    assert folder() != before


def test_who_has_chosen_a_folder_keeps_it(site, monkeypatch):
    monkeypatch.setenv(VARIABLE, "/chosen")
    kernel_folder.set_kernel_folder()
    assert os.environ[VARIABLE] == "/chosen"


def test_a_checkout_is_left_alone(site):
    site.unlink()
    kernel_folder.set_kernel_folder()
    assert VARIABLE not in os.environ


def test_where_the_cache_cannot_be_written_kernels_are_among_the_temporary_files(
    site, tmp_path, monkeypatch
):
    (tmp_path / "cache").write_text("a file\n")
    monkeypatch.setattr(kernel_folder.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    place = folder()
    assert place.is_relative_to(tmp_path / "tmp") and place.is_dir()
    assert place.stat().st_mode & 0o077 == 0


def test_a_temporary_folder_of_somebody_else_is_not_used(site, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file\n")
    monkeypatch.setattr(kernel_folder.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    theirs = folder()
    monkeypatch.setattr(kernel_folder.os, "getuid", lambda: theirs.stat().st_uid + 1)
    (tmp_path / "tmp").joinpath(f"iap-{os.getuid()}").mkdir()
    assert folder() not in (theirs, tmp_path / "tmp" / f"iap-{os.getuid()}" / theirs.name)


def test_short_compiling_passes_without_a_word_and_long_compiling_is_announced_once(
    capsys, monkeypatch
):
    monkeypatch.setattr("atexit.register", lambda _: None)  # nothing is said at this process's end
    now = iter([0.0, 1.0, 1.0, 10.0, 15.0, 16.0])
    notice = CompilationNotice(clock=lambda: next(now))
    compiled = SimpleNamespace(data={"dispatcher": numba.njit(rotate.py_func)})
    notice.on_start(compiled)
    notice.on_end(compiled)
    assert capsys.readouterr().err == ""
    notice.on_start(compiled)
    notice.on_start(compiled)  # a kernel that it calls
    notice.on_end(compiled)
    notice.on_end(compiled)
    assert capsys.readouterr().err.count("once") == 1
    assert (notice.kernels, notice.elapsed) == (3, 15.0)


def test_what_was_compiled_in_a_run_is_said_at_its_end_without_what_numba_compiles_for_it():
    code = (
        "from iap_description.process import compiling; compiling.NOTICE.unnoticed = 0.0;"
        "import iap_description.math.kernels; import numba, numpy;"
        "numba.njit(lambda x: numpy.zeros(3) + max(x, 1.0))(1.0)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert "compiled 1 kernel in" in done.stderr
    assert done.stdout == ""
