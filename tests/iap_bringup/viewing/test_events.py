# SPDX-License-Identifier: BSD-3-Clause
"""Events of a flight are the same while it is flown and in its run folder afterwards."""

import json
from functools import partial

import numpy as np
import pytest

from iap_bringup.nodes.topic_notes import TopicHappenings
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.record_notes import events_of
from iap_bringup.viewing.source import RunSource
from iap_io.runs.topics import LATCHES
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import RunOptions
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import resolved

SILENT = {"at": 0.5, "sensor": "motion_capture", "output": "silent"}
WEAK = {"at": 0.9, "aircraft": 1, "rotor": 2, "thrust": 0.9}
BY_CAPTURE = {
    "platform": "f450",
    "sensors": "capture,imu",
    "state_source": "capture_inertial",
    "duration": 1.2,
}
FLIGHTS = {  # settings, options, and words of an event that a flight must have
    "hover": ({"faults": [SILENT, WEAK]}, BY_CAPTURE, ("vision lost", "rotor 2 of aircraft 1")),
    "docking": ({}, {}, ("first contact of chaser", "caught", "locked")),
    "arm_pick": ({}, {"duration": 17.0}, ("box taken", "box let go")),
}


class OnLooker(LiveFlight):
    """Shows every instant; lets a person do something at a time."""

    def __init__(self, flight, at=None, do=None):
        super().__init__(flight, is_paced=False)
        self._at, self._do = at, do

    def record(self, vehicle, step):
        self._due = 0.0
        super().record(vehicle, step)
        if self._do is not None and step.t >= self._at:
            do, self._do = self._do, None
            do(self)


def flown(folder, name, settings, options, **what):
    """Events of a flight as they were shown at its end, and the recorded run."""
    folder.mkdir()
    scenario, tree = resolved(name, settings, options)
    live = OnLooker(Flight.of(scenario), **what)
    execute(live._flight, folder, tree, RunOptions(viewer=live))
    return live.notes().events, RecordedRun(folder)


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=() if each == "hover" else pytest.mark.slow) for each in FLIGHTS],
)
def test_events_that_are_shown_in_flight_are_those_of_the_recorded_run(tmp_path, name):
    *how, words = FLIGHTS[name]
    shown, run = flown(tmp_path / "run", name, *how)
    recorded = events_of(run)[:-1]
    assert [each.text for each in shown] == [each.text for each in recorded]
    assert [each.t for each in shown] == pytest.approx([each.t for each in recorded], abs=0.01)
    texts = " ".join(each.text for each in shown)
    assert all(word in texts for word in words)
    if name == "docking":
        by_topics = events_by_topics(run)
        assert [each.text for each in by_topics] == [each.text for each in recorded]
        assert [each.t for each in by_topics] == pytest.approx([e.t for e in recorded], abs=0.1)


def events_by_topics(run):
    """Events of a recorded run as one knows them who takes thirty instants a second out of its topics."""
    happenings, source, events = TopicHappenings(Flight.of(run.scenario)), RunSource(run), ()
    for t in np.arange(0.0, source.span[1] + 1e-6, 0.035):
        notes = source.notes(t)
        latest = partial(value_of, {LATCHES: list(notes.couplings.values()) or None})
        events = happenings.events(source.steps(t), notes.objects, latest)
    return events


def value_of(values, _, topic):
    """The value of a topic; None where none came."""
    return values.get(topic)


def test_a_run_folder_says_what_a_person_did_to_its_flight(tmp_path):
    def disturb(live):
        live.blow(1.0, 0.0)
        live.blow(3.0, 0.0)  # a slider on its way
        live.break_rotor(0, 2, 1)

    settings = {"engine.name": "closed_form"}
    shown, run = flown(tmp_path / "run", "hover", settings, {"duration": 1.0}, at=0.5, do=disturb)
    texts = [each.text for each in events_of(run)[:-1]]
    assert texts == ["hand: wind 3 m/s towards 0 deg", "hand: rotor 1 of aircraft 2 at 0 % thrust"]
    assert [each.text for each in shown] == texts
    assert [each.t for each in shown] == pytest.approx([0.505, 0.505])


def test_a_flight_that_nobody_touches_is_silent_about_hands(tmp_path):
    settings = {"engine.name": "closed_form"}
    shown, run = flown(tmp_path / "run", "hover", settings, {"duration": 0.3})
    assert list(shown) == []
    assert "hand" not in json.loads((run.folder / "metrics.json").read_text())


def test_a_fault_that_a_flight_has_not_come_to_is_no_event_of_it(tmp_path):
    settings = {"engine.name": "closed_form", "faults": [WEAK]}
    options = {"duration": 2.0}
    _, run = flown(tmp_path / "run", "hover", settings, options, at=0.2, do=LiveFlight.reset)
    assert [each.text for each in events_of(run)] == ["reset"]
