# SPDX-License-Identifier: BSD-3-Clause
"""A live page: its keys, buttons and handle, who may use them, and what it draws meanwhile."""

import numpy as np
import pytest
from made_up_pages import Server
from measured_stage import moved
from starting_flight import starting_flight

from iap_bringup.viewing import live_viewer
from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.live_scene_notes import LiveHappenings, LiveSceneNotes
from iap_bringup.viewing.live_trace import Trace
from iap_bringup.viewing.live_viewer import KEYS, LiveViewer
from iap_description.signals import WrenchRecord
from iap_description.states import REF_P, P
from iap_io.runs.columns import Columns


@pytest.fixture(scope="module")
def flown():
    """A flight of two platforms, and the first step of each."""
    return starting_flight("two_platforms")


class NotedFlight(LiveFlight):
    """A flight on which everything that is done is noted."""

    def __init__(self, flight, steps):
        super().__init__(flight, is_paced=False)
        self.done, self.steps_shown, self.why = [], steps, ""

    def steps(self):
        return self.steps_shown

    def hindrance(self, vehicle):
        return self.why

    def fly(self, vehicle, twist):
        self.done.append(("fly", vehicle, twist.tolist()))

    def drag(self, vehicle, pose):
        self.done.append(("drag", vehicle, pose.tolist()))

    def release(self):
        self.done.append("release")

    def blow(self, *wind):
        self.done.append(("blow", *wind))

    def break_rotor(self, *which):
        self.done.append(("break", *which))

    def stop_motors(self, *which):
        self.done.append(("stop", *which))


def test_keys_and_buttons_of_a_page_reach_the_vehicle_that_is_chosen(flown):
    flight, steps = flown
    server, live = Server(), NotedFlight(flight, [])
    viewer = LiveViewer(server, live, may_control=True)
    gui = server.gui
    gui.named("vehicle").value = flight.meta.vehicles[1].name
    gui.named("Take the reference").click()
    assert viewer._gizmo is None and viewer._is_gizmo_due and live.done == []
    live.steps_shown = [moved(step) for step in steps]
    gui.named("Take the reference").click()
    row = live.steps_shown[1].reference.row
    assert live.done == [("drag", 1, row[:7].tolist())] and not viewer._is_gizmo_due
    (handle,) = server.scene.of("transform_controls")
    assert handle.position == pytest.approx(row[REF_P]) and handle.wxyz == pytest.approx(
        (row[6], *row[3:6])
    )
    handle.position, handle.wxyz = (1.0, 2.0, 3.0), (0.9, 0.1, 0.2, 0.3)
    handle.change()
    assert live.done[-1] == ("drag", 1, [1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9])
    viewer._gizmo.follow(live.steps_shown)
    assert handle.position == (1.0, 2.0, 3.0)  # it was dragged
    commands = {each.options["hotkey"]: each for each in gui.of("command")}
    for key, _, twist in KEYS:
        commands[key].click()
        assert live.done[-1] == ("fly", 1, list(twist))
    twists = {key: twist for key, _, twist in KEYS}
    assert twists["W"][0] > 0 > twists["S"][0] and twists["A"][1] > 0 > twists["D"][1]
    assert twists["R"][2] > 0 > twists["F"][2] and twists["Q"][3] > 0 > twists["E"][3]
    viewer._gizmo.follow(live.steps_shown)
    assert handle.position == pytest.approx(row[REF_P])  # keys have flown it since
    live.why = "a policy flies"
    done = len(live.done)
    commands["W"].click()
    gui.named("Take the reference").click()
    assert len(live.done) == done and viewer._hindrance.content == "a policy flies"
    gui.named("Give it back").click()
    assert live.done[-1] == "release" and handle.removed and viewer._gizmo is None
    gui.named("wind, m/s").value = 3.5
    gui.named("towards, deg").change(45.0)
    assert live.done[-1] == ("blow", 3.5, 45.0)
    gui.named("wind, m/s").change(2.5)
    assert live.done[-1] == ("blow", 2.5, 45.0)
    gui.named("aircraft").value, gui.named("rotor").value = "2", "4"
    gui.named("Break the rotor").click()
    gui.named("Stop the aircraft's motors").click()
    assert live.done[-2:] == [("break", 1, 2, 4), ("stop", 1, 2)]
    most = max(each.count for each in flight.meta.vehicles)
    assert gui.named("aircraft").args[1] == [str(k + 1) for k in range(most)] and gui.named(
        "rotor"
    ).args[1] == list("1234")


def test_a_handle_follows_again_once_time_has_begun_anew(flown):
    steps = [moved(step)._replace(t=5.0) for step in flown[1]]
    gizmo = live_viewer.Gizmo(Server(), "h", 0, steps)
    gizmo.is_dragged = True
    gizmo.follow(steps)
    assert gizmo.is_dragged
    gizmo.follow([step._replace(t=4.9) for step in steps])
    assert not gizmo.is_dragged


def test_who_may_only_look_on_has_no_buttons_and_reads_how_it_ended(flown):
    server, live = Server(), NotedFlight(flown[0], flown[1])
    viewer = LiveViewer(server, live, may_control=False)
    assert server.gui.of("button") == [] and server.gui.of("command") == []
    said = []
    server.linger = lambda is_over: said.append((viewer._news.content, is_over()))
    viewer.linger("It crashed.", lambda: True)
    assert (
        said == [("**It crashed.** Closing the page ends the command.", True)]
        and viewer._news.content == ""
    )
    other = LiveViewer(Server(), live, may_control=True)
    other._server.linger = lambda is_over: said.append((other._news.content, None))
    other.linger("Done.", lambda: False)
    assert "Reset flies it again." in said[1][0]


def test_new_instants_are_drawn_while_somebody_watches(flown):
    server, live = Server(), NotedFlight(flown[0], [moved(step) for step in flown[1]])
    viewer = LiveViewer(server, live, may_control=True)
    waits, drawn = [], []
    viewer._scene.update = lambda stage, steps, notes: drawn.append(steps)

    class Stop:
        def wait(self, period):
            waits.append(period)
            server.clients = {} if len(waits) in (1, 2) else {0: None}
            if len(waits) == 5:
                live.steps_shown = [step._replace(t=2.345) for step in live.steps_shown]
            return len(waits) > 6

    viewer._stop = Stop()
    first = live.steps_shown
    viewer._run()
    assert len(drawn) == 2 and drawn[0] is first and drawn[1] is not first
    assert viewer._clock.content == "t = 2.35 s" or viewer._clock.content == "t = 2.34 s"
    assert waits[1] == live_viewer.IDLE_PERIOD and waits[-1] == live_viewer.LOOK_PERIOD


def test_what_is_slid_stands_in_the_place_of_what_was_slid_just_before(flown):
    notes = object.__new__(LiveSceneNotes)
    notes._by_hand, notes._slid = [], -np.inf
    assert notes.metrics == {}
    for t, what, is_slid in (
        (1.0, "wind 1", True),
        (1.9, "wind 2", True),
        (3.0, "wind 3", True),
        (3.1, "rotor", False),
        (3.2, "wind 4", True),
    ):
        notes.note_by_hand(t, what, is_slid=is_slid)
    assert [each["what"] for each in notes.metrics["hand"]["events"]] == [
        "wind 2",
        "wind 3",
        "rotor",
        "wind 4",
    ]
    assert notes.metrics["hand"]["events"][0]["t_s"] == 1.9


def test_the_first_contact_of_each_vehicle_that_feels_is_kept_by_steps_and_by_rows():
    flight, (step,) = starting_flight("wall_push")
    zero, force = np.zeros(6), np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    torque = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    by_steps, by_rows = LiveHappenings(flight), LiveHappenings(flight)
    for k, felt in enumerate((zero, torque, force, force)):
        by_steps.record(
            0,
            step._replace(
                t=0.1 * k, wrench_record=WrenchRecord(felt, force, force, step.reference, None)
            ),
        )
    columns = Columns.zeros(4, flight.meta.vehicles[0])
    columns.t[:], columns.wrench_record.wrenches[2:, 0, 1] = 0.1 * np.arange(4), 2.0
    columns.wrench_record.wrenches[:, 1, 1] = 2.0
    by_rows.record_rows(0, columns)
    by_rows.record_rows(0, columns)
    for each in (by_steps, by_rows):
        happened = each.at([step._replace(t=0.4)], {}, {"a": 1})
        assert happened.contacts == {"iap": pytest.approx(0.2)} and happened.t == 0.4
        assert happened.grasp is None and happened.metrics == {"a": 1}


def test_a_long_trace_takes_away_its_oldest_part_and_begins_anew_where_time_does(monkeypatch):
    from recording_stage import RecordingStage

    monkeypatch.setattr("iap_bringup.viewing.live_trace.MOST_NODES", 3)
    stage, trace = RecordingStage(), Trace("w", (1, 2, 3))
    for k in range(16):
        trace.extend(stage, 0.1 * k, np.array([0.1 * k, 0.0, 0.0]))
    assert list(stage.lines) == ["w_1"] and len(stage.lines["w_1"]) == 15
    for k in range(16, 16 + 15 * 4):
        trace.extend(stage, 0.1 * k, np.array([0.1 * k, 0.0, 0.0]))
    assert list(stage.lines) == ["w_3", "w_4", "w_5"]
    drawn = np.concatenate(list(stage.lines.values()))
    np.testing.assert_allclose(drawn[1:, 0], drawn[:-1, 1])
    assert drawn[-1, 1, 0] == pytest.approx(7.5)
    assert P.start == 0
