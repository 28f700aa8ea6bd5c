# SPDX-License-Identifier: BSD-3-Clause
"""metrics.json of several vehicles: what is the worst of all, whose faults struck, and plain numbers."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.vehicles.faults import RotorFault
from iap_io.runs import topics
from iap_io.runs.run_meta import RunStats, Track, WrenchTrack
from iap_simulation.flights.flight import Flight
from iap_simulation.metrics import metrics
from iap_simulation.metrics.flight_scores import CollectedTracks
from iap_simulation.metrics.metrics import Scores


def test_of_each_number_the_largest_counts_axis_by_axis() -> None:
    each = [
        {"a": 1.0, "b": None, "c": [1.0, math.nan, 3.0], "d": None},
        {"a": 3.0, "b": 2.0, "c": [2.0, 5.0, 1.0], "d": None},
        {"a": 2.0, "b": -1.0, "c": [0.0, 4.0, math.nan], "d": None},
    ]
    found = metrics._largest(each)
    assert (found["a"], found["b"], found["d"]) == (3.0, 2.0, None)
    np.testing.assert_array_equal(found["c"], [2.0, 5.0, 3.0])


def test_names_of_vehicles_are_said_once_each() -> None:
    def vehicle(platform: str) -> Any:
        return SimpleNamespace(meta=SimpleNamespace(platform=platform))

    fleet = [vehicle(name) for name in ("f450", "hexa", "f450")]
    assert metrics._joined(fleet, "platform") == "f450, hexa"


def test_a_landing_is_the_worst_of_all_vehicles() -> None:
    one = {"touch_speed_mps": 0.3, "force_n": None, "cut_height_m": None, "stands": True}
    other = {"touch_speed_mps": 0.2, "force_n": 9.0, "cut_height_m": None, "stands": False}
    found = metrics._landing({"a": one, "b": other})
    assert (found["touch_speed_mps"], found["force_n"], found["cut_height_m"]) == (0.3, 9.0, None)
    assert not found["stands"] and found["vehicles"] == {"a": one, "b": other}
    assert metrics._landing({"a": one})["stands"]


def test_numbers_that_are_none_become_null_in_plain_types() -> None:
    tree = {"a": np.array([[1.0, np.nan]]), "b": (np.float64(2.0), math.inf), "c": "x", "d": True}
    found = metrics._plain({"deep": tree, "k": np.int64(3)})
    assert found["deep"] == {"a": [[1.0, None]], "b": [2.0, None], "c": "x", "d": True}
    assert type(found["deep"]["b"][0]) is float and found["k"] == 3


def test_faults_that_have_struck_are_listed_by_time_with_what_was_told() -> None:
    def fault(at: float, known: bool = False) -> RotorFault:
        return RotorFault(at=at, aircraft=1, rotor=2, thrust=0.5, known=known)

    told = SimpleNamespace(at=1.0, hover_load=0.7, can_carry=True, text="aircraft 1 is weak")
    one: Any = SimpleNamespace(
        name="a", faults=(fault(3.0), fault(1.0, known=True)), losses=(told,)
    )
    other: Any = SimpleNamespace(name="b", faults=(fault(2.0), fault(5.0)), losses=(told,))
    found = metrics.struck([one, other], 3.0)
    assert [(each["t_s"], each["vehicle"]) for each in found] == [
        (1.0, "a"),
        (2.0, "b"),
        (3.0, "a"),
    ]
    assert found[0]["known"] and found[0]["told"] == "aircraft 1 is weak"
    assert (found[0]["hover_load"], found[0]["can_carry"]) == (0.7, True)
    assert found[0]["fault"] == str(fault(1.0)) and not found[1]["known"]
    assert "told" not in found[1] and "told" not in found[2]


def stats(**keys: Any) -> RunStats:
    return RunStats(
        **{
            "outcome": "completed",
            "duration_s": 3.0,
            "wall_s": 1.5,
            "control_step_us": 9.0,
            **keys,
        }
    )


@pytest.fixture(scope="module")
def flight() -> Flight:
    return Flight.of(scenario_of("hover"))


def test_tracks_have_the_stamps_of_their_recording_and_their_own_places() -> None:
    collected = CollectedTracks(2)
    poses, wrenches = np.zeros((2, 7)), np.zeros((1, 6))
    track, measured = (
        Track(np.array([0.0, 0.1 + 4e-10]), poses),
        WrenchTrack(np.array([1.0]), wrenches),
    )
    collected.add_track(1, topics.REFERENCE_POSE, track)
    collected.add_track(1, topics.ACTUAL_WRENCH, measured)
    collected.add_track(0, topics.ACTUAL, track)
    first, second = collected.tracks
    assert first.commanded is None and first.measured is None and second.actual is None
    assert (
        second.commanded is not None and second.commanded.t[1] == 0.1 and first.actual is not None
    )
    assert second.measured is not None and second.measured.wrenches is wrenches


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (
            {},
            {
                "real_time_factor": 2.0,
                "outcome": "completed",
                "duration_s": 3.0,
                "control_step_us": 9.0,
            },
        ),
        ({"wall_s": 0.0}, {"real_time_factor": None}),
        ({"compiled_fraction": 0.25}, {"compiled_fraction": 0.25}),
        ({"images": 6, "render_s": 2.0}, {"images": 6, "images_per_s": 3.0}),
        ({"recordings": {"iap": {"file": "a"}}}, {"recording": {"file": "a"}}),
        ({"tasks": {"arm": {"x": 1.0}}}, {"arm": {"x": 1.0}}),
        ({"policy": {"name": "p"}}, {"policy": {"name": "p"}}),
        ({"unfollowed": ("iap",)}, {"unfollowed": ["iap"]}),
        (
            {
                "landings": {
                    "iap": {
                        "touch_speed_mps": 0.1,
                        "force_n": 2.0,
                        "cut_height_m": None,
                        "stands": True,
                    }
                }
            },
            {
                "landing": {
                    "touch_speed_mps": 0.1,
                    "force_n": 2.0,
                    "cut_height_m": None,
                    "stands": True,
                    "vehicles": {
                        "iap": {
                            "touch_speed_mps": 0.1,
                            "force_n": 2.0,
                            "cut_height_m": None,
                            "stands": True,
                        }
                    },
                }
            },
        ),
    ],
)
def test_what_the_loop_measured_is_in_the_metrics(flight: Flight, keys: dict, found: dict) -> None:
    made = Scores(flight.meta, CollectedTracks(1).tracks).metrics(stats(**keys))
    assert {key: made[key] for key in found} == found
    optional = {
        "compiled_fraction",
        "images",
        "images_per_s",
        "recording",
        "arm",
        "policy",
        "unfollowed",
        "landing",
        "faults",
    }
    assert optional & set(made) == optional & set(found)
    assert made["scenario"] == "hover" and made["platform"] == "three_star"
