# SPDX-License-Identifier: BSD-3-Clause
"""The library that steps Betaflight, on a small program with the same three threads."""

import shutil
import subprocess
from pathlib import Path

import pytest

from iap_description.errors import BadInput
from iap_physics.firmware.betaflight import lockstep_library as library
from iap_physics.firmware.betaflight.link import MOTORS, STATE, STICKS, BetaflightLink
from iap_physics.firmware.process import FirmwareProcess

PROGRAM = Path(__file__).with_name("three_threads.c")
STEP = 1e-3  # [s]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture
def stepped(tmp_path):
    """A link to the program, and a function that gives its answer to a state of a stamp [s]."""
    program = tmp_path / "three_threads"
    subprocess.run(["cc", "-o", program, PROGRAM, "-lpthread"], check=True)
    link = BetaflightLink(None, 0)
    environment = {
        "LD_PRELOAD": str(library.lockstep_library()),
        "IAP_PORT_OFFSET": str(link.offset),
    }
    process = FirmwareProcess([str(program)], environment, {})
    while "bind port" not in process.output:
        process.check()

    def answer(stamp, deadline=2.0):
        link.send_state(STATE.pack(stamp, *[0.0] * 17))
        packet = link.next(process, deadline)
        return None if packet is None else MOTORS.unpack(packet)

    yield link, answer
    process.end()
    link.close()


@needs_compiler
def test_each_state_is_answered_once_at_the_clock_of_its_stamp(stepped):
    _, answer = stepped
    first = answer(0.0)
    for k in range(1, 200):
        clock, _, states, stamp = answer(k * STEP)
        assert (states, stamp) == (k + 1, pytest.approx(k * STEP))
        assert clock - first[0] == pytest.approx(k * STEP, abs=1e-4)


@needs_compiler
def test_sticks_that_were_sent_before_a_state_count_with_it(stepped):
    link, answer = stepped
    answer(0.0)
    for k in range(1, 50):
        link.send_sticks(STICKS.pack(0.0, 1000 + k, *[1000] * 15))
        assert answer(k * STEP)[1] == 1000 + k


@needs_compiler
def test_its_clock_stands_between_states_and_takes_none_of_an_old_stamp(stepped):
    _, answer = stepped
    answer(0.0)
    before = answer(0.001)[0]
    answer(0.001, deadline=0.3)
    assert answer(0.002)[0] - before == pytest.approx(0.001, abs=2e-4)


def test_without_a_compiler_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no_compiler_of_this_name")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="needs a C compiler.*install gcc"):
        library.lockstep_library()


@needs_compiler
def test_what_does_not_compile_is_said(monkeypatch, tmp_path):
    source = tmp_path / "lockstep.c"
    source.write_text("no C")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(library, "SOURCE", source)
    with pytest.raises(BadInput, match="cannot compile .*lockstep.c"):
        library.lockstep_library()
