# SPDX-License-Identifier: BSD-3-Clause
"""Flights of recordings that others made: what is written into their keys, and what is refused before the flight."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from flight_bags import START_NS, BagMaker
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

Array = NDArray[np.float64]
POSE = "geometry_msgs/msg/PoseStamped"
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
T = np.arange(0.0, 2.0, 0.02)


def write(
    folder: Path, p: Array, q: Array = LEVEL, topic: str = "/mavros/local_position/pose"
) -> Path:
    """A bag of poses at `T`."""
    folder.mkdir(exist_ok=True)
    maker = BagMaker(folder, "mcap")
    stamps = [START_NS + round(1e9 * t) for t in T]
    attitudes = np.broadcast_to(q, (len(T), 4))
    rows = [
        (s, maker.pose_stamped(s, *pose)) for s, *pose in zip(stamps, p, attitudes, strict=True)
    ]
    return maker.write({topic: (POSE, rows)})


def climbing(height: float, ground: float = 0.0) -> Array:
    """Positions from the ground up."""
    s = np.clip((T - 0.5) / 1.2, 0.0, 1.0)
    z = ground + height * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return np.column_stack([0.0 * T, 0.0 * T, z])


def replay(path: Path, *assignments: str, **keys: Any) -> tuple[Scenario, dict[str, Any]]:
    """Resolve the flight of a bag."""
    options = Options(engine="closed_form", assignments=("start.lead_in=0.5", *assignments))
    return resolve_replay({"path": str(path), **keys}, options)


def test_a_run_is_replayed_by_the_bag_within_it(tmp_path: Path) -> None:
    write(tmp_path / "made", climbing(0.6)).rename(tmp_path / "bag")
    scenario, tree = replay(tmp_path)
    assert tree["reference"]["path"] == str(tmp_path / "bag")
    assert scenario.scenario == f"replay_{tmp_path.name}"


def test_a_flight_from_the_ground_raises_itself_and_shows_what_was_read(tmp_path: Path) -> None:
    scenario, tree = replay(write(tmp_path, climbing(0.6, ground=-0.04)))
    assert tree["reference"]["topic"] == "/mavros/local_position/pose"
    assert (tree["reference"]["convention"], tree["reference"]["clock"]) == ("enu", "header")
    folder = tmp_path / "run"
    folder.mkdir()
    result = execute(Flight.of(scenario), folder, tree)
    assert result.metrics["outcome"] == "completed"
    assert result.metrics["position_rmse_m"] < 0.03
    kept = json.loads((folder / "metrics.json").read_text())["recording"]
    assert (kept["topic"], kept["frame"]) == ("/mavros/local_position/pose", "map")
    assert "it starts on the ground: raised by 0.59 m" in kept["notes"]
    assert yaml.safe_load((folder / "config.yaml").read_text())["reference"]["lift"] == 0.59


def test_what_names_say_is_kept_in_the_keys_and_noted_in_the_flight(tmp_path: Path) -> None:
    ned = climbing(0.6, ground=1.0) * [1.0, 1.0, -1.0]
    scenario, tree = replay(write(tmp_path, ned, topic="/odom_ned"))
    assert tree["reference"]["convention"] == "ned"
    recording = Flight.of(scenario).recordings["iap"]
    assert recording["notes"] == (
        "NED/FRD by the name /odom_ned (--convention enu, if it is not)",
    )


def test_a_reference_into_the_ground_is_refused_with_the_offset_that_raises_it(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, climbing(-1.5) + [0.0, 0.0, -0.6])
    scenario, _ = replay(path)
    remedy = r"goes down to z = -2\.1.. m .* 'offset=\[0,0,2\.6\d\]' raises it; --convention ned"
    with pytest.raises(BadInput, match=remedy):
        Flight.of(scenario)
    Flight.of(replay(path, "offset=[0,0,2.66]")[0])
    for name, y in (("y_up", 1.5 + 0.0 * T), ("from_the_ground", T)):
        y_up = write(tmp_path / name, np.column_stack([T, y, 0.2 - T]))
        with pytest.raises(
            BadInput, match="--convention ned reads NED/FRD, y-up takes y as the height"
        ):
            Flight.of(replay(y_up)[0])
    low, _ = resolve("hover", Options(assignments=("offset=[0,0,-1.4]",)))
    with pytest.raises(BadInput, match=r"its reference goes down to z = 0\.1"):
        Flight.of(low)
    for free in ("world.ground=false", "start.mode=ground"):  # nothing is hit, or all is low
        Flight.of(resolve("hover", Options(assignments=("offset=[0,0,-1.4]", free)))[0])


def test_a_level_flight_that_only_sinks_from_zero_is_not_raised_but_asked_about(
    tmp_path: Path,
) -> None:
    """It climbs, where z points down; nothing but its way tells."""
    sinking = climbing(0.4) * [1.0, 1.0, -1.0]
    with pytest.raises(BadInput, match="--convention ned reads NED/FRD"):
        Flight.of(replay(write(tmp_path, sinking))[0])
    tree = replay(write(tmp_path / "ned", sinking), convention="ned")[1]
    assert tree["reference"]["lift"] > 0.0


def test_set_points_that_step_are_smoothed_until_a_platform_follows(tmp_path: Path) -> None:
    steps = np.column_stack([0.6 * (T > 1.0), 0.0 * T, 0.0 * T + 2.0])
    path = write(tmp_path, steps, topic="/setpoint")
    sharp = replay(path, smooth=4.0)[0]
    with pytest.raises(BadInput, match=r"three_star has thrust for 18\.\d with gravity.*--scale"):
        Flight.of(sharp)
    scenario, tree = replay(path)
    folder = tmp_path / "run"
    folder.mkdir()
    result = execute(Flight.of(scenario), folder, tree)
    assert result.metrics["outcome"] == "completed"
    step, smoothed = result.metrics["recording"]["notes"]
    assert "1 step as of set-points, by up to 0.60 m within 0.020 s at t = 1.000 s" in step
    assert smoothed.startswith("smoothed at 0.7 Hz instead of 2, up to 0.")


@pytest.mark.parametrize("axis", [0, 1])
def test_a_platform_of_position_and_yaw_keeps_its_heading_through_a_loop(
    tmp_path: Path, axis: int
) -> None:
    half = np.pi * np.clip((T - 0.5) / 1.0, 0.0, 1.0)
    q = np.zeros((len(T), 4))
    q[:, axis], q[:, 3] = np.sin(half), np.cos(half)
    path = write(tmp_path, np.column_stack([0.2 * T, 0.0 * T, 0.0 * T + 2.0]), q)
    options = Options(engine="closed_form", platform="f450")
    scenario, tree = resolve_replay({"path": str(path)}, options)
    assert tree["reference"]["attitude"] == "heading"
    timeline = Flight.of(scenario).vehicles[0].timeline
    headings = timeline.rows(0, timeline.count)[:, 19:]
    assert np.abs(np.sin(headings)).max() < 1e-3
    assert replay(path)[1]["reference"].get("attitude") is None  # a three-star turns as commanded
