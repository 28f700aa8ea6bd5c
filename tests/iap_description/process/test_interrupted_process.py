# SPDX-License-Identifier: BSD-3-Clause
"""How a process ends that was interrupted, and that a later piece of work knows nothing of an interrupt."""

import contextlib
import signal
import subprocess
import sys

import pytest

from iap_description.process import interrupts

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


def test_a_swallowed_interrupt_ends_the_flight_that_begins_after_it():
    with interrupts.handled(interrupts.raise_interrupt):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(interrupts.Terminated), interrupts.Deferral() as flight:
            flight.check()
