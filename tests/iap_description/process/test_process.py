# SPDX-License-Identifier: BSD-3-Clause
"""Interrupts, and the folder of compiled kernels."""

import contextlib
import importlib.util
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba import config
from numba.core import caching

from iap_description.process import interrupts
from iap_description.process.compilation_cache import CheckedCacheFile, check_compilation_cache
from iap_description.process.extras import LazyModule

KERNEL = """
from numba import njit

@njit(cache=True)
def twice(x):
    return 2.0 * x
"""
MODULE = """
import sys
from iap_description.process import interrupts
with interrupts.handled(interrupts.raise_interrupt):
    try:
        exec("import os, signal, time; os.kill(os.getpid(), signal.{name}); time.sleep(10.0)")
    except KeyboardInterrupt as error:
        print(interrupts.word(error))
        number = interrupts.signal_of(error)
interrupts.end_by_exit_code()
sys.exit(interrupts.exit_code(number))
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call the kernel as a new process would, which knows only what is on the disk; says what came from there."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(caching, "IndexDataCacheFile", caching.IndexDataCacheFile)
    check_compilation_cache()
    source = tmp_path / "kernel_on_disk.py"
    source.write_text(KERNEL)

    def fresh():
        spec = importlib.util.spec_from_file_location("kernel_on_disk", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.twice(21.0) == 42.0
        return sum(module.twice.stats.cache_hits.values())

    assert fresh() == 0
    assert fresh() == 1
    return fresh


def flipped(data):
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damaged",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: random.Random(3).randbytes(len(data)),
    ],
    ids=["empty", "cut", "random"],
)
def test_a_damaged_file_is_reported_and_made_anew(call, tmp_path, capsys, kind, damaged):
    (file,) = tmp_path.glob(f"cache/**/*.{kind}")
    file.write_bytes(damaged(file.read_bytes()))
    assert call() == 0
    complaint = capsys.readouterr().err
    assert complaint.splitlines()[0] == f"iap: {file}: damaged, is compiled anew"
    assert call() == 1
    assert capsys.readouterr().err == ""


def test_a_changed_bit_of_the_code_is_noticed(call, tmp_path, capsys):
    (file,) = tmp_path.glob("cache/**/*.nbc")
    file.write_bytes(flipped(file.read_bytes()))
    assert call() == 0
    assert "damaged" in capsys.readouterr().err


def test_code_that_others_kept_without_a_checksum_is_read(call, tmp_path):
    (file,) = tmp_path.glob("cache/**/*.nbc")
    file.write_bytes(file.read_bytes()[:-8])
    assert call() == 1


class SlowCacheFile(CheckedCacheFile):
    """Between what is read and what is written, others have their time."""

    def _load_index(self):
        overloads = super()._load_index()
        time.sleep(0.05)
        return overloads


def test_two_that_keep_code_of_one_function_at_once_keep_both(tmp_path):
    names = ("single", "double")
    files = [SlowCacheFile(str(tmp_path), "kernel", "stamp") for _ in names]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda file, name: file.save(name, f"code of {name}"), files, names))
    assert [files[0].load(name) for name in names] == ["code of single", "code of double"]


@pytest.mark.parametrize(
    ("name", "word", "code"), [("SIGINT", "interrupted", 130), ("SIGTERM", "terminated", 143)]
)
def test_an_interrupt_in_an_exec_of_a_string_ends_by_the_exit_code(name, word, code, tmp_path):
    # namedtuple, dataclass and others call it while they are imported.
    (tmp_path / "interrupted.py").write_text(MODULE.format(name=name))
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, f"{word}\n", "")


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_an_interrupt_that_was_answered_ends_nothing_later(number):
    with (
        interrupts.handled(interrupts.raise_interrupt) as received,
        contextlib.suppress(KeyboardInterrupt),
    ):
        signal.raise_signal(number)
    assert received.number == number
    with interrupts.Deferral() as later:
        later.check()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_process_that_has_nothing_to_clean_up_ends_by_the_code_of_its_signal(
    monkeypatch, capfd, number, code
):
    codes = []
    monkeypatch.setattr(interrupts.os, "_exit", codes.append)
    interrupts.exit_at_once(number, None)
    assert codes == [code] and capfd.readouterr().err.startswith("iap: ")


def test_a_swallowed_interrupt_ends_the_flight_that_begins_after_it():
    with interrupts.handled(interrupts.raise_interrupt):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(interrupts.Terminated), interrupts.Deferral() as flight:
            flight.check()


def test_an_interrupt_waits_until_a_library_is_there_as_a_whole(tmp_path, monkeypatch):
    """A compiled module that an exception leaves half made ends the process at its next use."""
    text = "import signal\nsignal.raise_signal(signal.SIGTERM)\nwhole = True\n"
    (tmp_path / "slow_library.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    library = LazyModule("slow_library", "tests need", "none")
    with (
        interrupts.handled(interrupts.raise_interrupt),
        pytest.raises(interrupts.Terminated),
    ):
        library.whole  # noqa: B018 - it is imported by that
    assert sys.modules["slow_library"].whole
