# SPDX-License-Identifier: BSD-3-Clause
"""The pause before a flight of nodes: it ends once all that is recorded arrives, and says what keeps it."""

import time
from collections.abc import Callable

import pytest

from iap_bringup.nodes.recorded_topics import QUIET_TIME, REPEATS, PauseEnd
from iap_io.runs import topics

CAMERA = "three_star/agent_1/camera/image_raw"
COMMAND = (0, "command")


class Pause:
    """A pause that ends where its service is there, and sensors that come."""

    def __init__(self) -> None:
        self.is_over, self.has_service, self.sensors = False, True, [CAMERA]
        missing = {COMMAND, (0, topics.STATE)}
        self.end = PauseEnd(["three_star"], missing, lambda: self.sensors, self.resume)

    def resume(self) -> bool:
        self.is_over = self.has_service
        return self.has_service

    def note_states(self, count: int) -> None:
        for _ in range(count):
            self.end.note(0, topics.STATE)


@pytest.fixture
def long_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    later = time.monotonic() + 2 * QUIET_TIME
    return lambda: monkeypatch.setattr(time, "monotonic", lambda: later)


def test_it_ends_once_everything_has_come_and_states_have_repeated() -> None:
    pause = Pause()
    pause.end.note(*COMMAND)
    pause.note_states(2 * REPEATS)
    assert not pause.is_over  # the camera is missing
    pause.sensors.clear()
    pause.note_states(REPEATS - 1)
    assert not pause.is_over
    pause.note_states(1)
    assert pause.is_over


def test_a_service_that_is_late_is_asked_again() -> None:
    pause = Pause()
    pause.sensors.clear()
    pause.has_service = False
    pause.end.note(*COMMAND)
    pause.note_states(REPEATS)
    assert not pause.is_over
    pause.has_service = True
    pause.note_states(1)
    assert pause.is_over


def test_what_keeps_it_is_said_by_topic_after_a_while(long_after: Callable[[], None]) -> None:
    pause = Pause()
    pause.note_states(1)
    assert pause.end.obstacle == ""
    long_after()
    what = "the flight waits until somebody publishes"
    assert pause.end.obstacle == f"{what} {CAMERA}, three_star/command"
    pause.end.note(*COMMAND)
    assert pause.end.obstacle == f"{what} {CAMERA}"
    pause.sensors.clear()
    pause.note_states(REPEATS)
    assert pause.end.obstacle == ""
