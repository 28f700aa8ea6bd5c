# SPDX-License-Identifier: BSD-3-Clause
"""Recorded wrenches: those that were commanded are flown, those that were measured are compared with."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flight_bags import START_NS, BagMaker
from numpy.typing import NDArray

from iap_bringup.cli.main import main
from iap_bringup.plots.flight_curves import flight_curves
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.runs.run_folder import VehicleRun, load_run
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import Result, execute
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import Options, resolve

Array = NDArray[np.float64]
POSE, WRENCH = "geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/WrenchStamped"
PUSH = "disturbances=[{at: 0.0, until: 99.0, force: [4.0, 0.0, 0.0], torque: [0.0, 0.0, 0.0]}]"
FRD = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
T = np.arange(0.0, 1.0, 0.01)


def fly(folder: Path, scenario: str, *assignments: str, duration: float = 2.5) -> VehicleRun:
    """A scenario's flight, recorded."""
    options = Options(engine="closed_form", duration=duration, assignments=assignments)
    ready, tree = resolve(scenario, options)
    folder.mkdir()
    execute(Flight.of(ready), folder, tree)
    return load_run(folder).vehicles[0]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, VehicleRun]:
    """The bag of a flight of the suite, and the flight."""
    folder = tmp_path_factory.mktemp("first") / "run"
    return folder / "bag", fly(folder, "figure_eight")


def replayed(bag: Path, folder: Path, *assignments: str, **keys: Any) -> tuple[Result, VehicleRun]:
    """The flight of a recording, without time before it."""
    options = Options(engine="closed_form", assignments=("start.lead_in=0.0", *assignments))
    scenario, tree = resolve_replay({"path": str(bag), **keys}, options)
    folder.mkdir()
    result = execute(Flight.of(scenario), folder, tree)
    return result, load_run(folder).vehicles[0]


def distance(one: VehicleRun, other: VehicleRun) -> float:
    """The largest distance between two flights [m]."""
    a, b = one.columns.x[:, 0, :3], other.columns.x[:, 0, :3]
    count = min(len(a), len(b))
    assert count > 100
    return float(np.linalg.norm(a[:count] - b[:count], axis=1).max())


def write(
    folder: Path, frame: str, wrenches: Array, t: Array = T, poses: Array | None = None
) -> Path:
    """A bag of wrenches in a frame, with or without poses."""
    maker = BagMaker(folder, "mcap")
    stamps = [START_NS + round(1e9 * each) for each in t]
    rows = []
    for stamp, wrench in zip(stamps, wrenches, strict=True):
        header = maker.header(stamp)
        header.frame_id = frame
        force, torque = maker.xyz(wrench[:3]), maker.xyz(wrench[3:])
        both = maker.make("geometry_msgs/msg/Wrench", force, torque)
        rows.append((stamp, maker.make(WRENCH, header, both)))
    topics: dict[str, Any] = {"/wrench": (WRENCH, rows)}
    if poses is not None:
        stamped = [
            (s, maker.pose_stamped(s, p[:3], p[3:])) for s, p in zip(stamps, poses, strict=True)
        ]
        topics["/pose"] = (POSE, stamped)
    return maker.write(topics)


def test_the_wrench_of_a_flight_flown_open_loop_arrives_where_the_flight_did(
    first: tuple[Path, VehicleRun], tmp_path: Path
) -> None:
    bag, flight = first
    keys = {"topic": "/iap/reference", "wrench_topic": "/iap/command", "wrench_use": "open_loop"}
    result, again = replayed(bag, tmp_path / "run", **keys)
    assert result.metrics["outcome"] == "completed"
    assert distance(flight, again) < 0.002
    (about,) = result.metrics["recording"]["wrenches"]
    assert (about["topic"], about["axes"], about["use"]) == (
        "/iap/command",
        "body",
        "flown open loop",
    )


@pytest.mark.parametrize("frame", ["map", "iap/base_link_frd"])
def test_wrenches_alone_are_flown_in_the_axes_that_their_frame_names(
    first: tuple[Path, VehicleRun], tmp_path: Path, frame: str
) -> None:
    """Without poses a flight begins with zero yaw, so that wrenches in body axes make the same path, turned."""
    _, flight = first
    c, wrenches = flight.columns, flight.columns.wrench_P
    q_WP, path = c.x[:, 0, 3:7], c.x[:, 0, :3] - c.x[0, 0, :3]
    if frame == "map":
        parts = [so3.rotate(q_WP, wrenches[:, part]) for part in (slice(3), slice(3, 6))]
        wrenches = np.hstack(parts)
    else:
        wrenches, path = FRD * wrenches, so3.rotate(so3.conjugate(q_WP[0]), path)
    bag = write(tmp_path, frame, wrenches, c.t)
    result, again = replayed(bag, tmp_path / "run", wrench_topic="/wrench")
    assert result.metrics["outcome"] == "completed"
    assert result.metrics["unfollowed"] == ["iap"]
    x = again.columns.x[: len(path), 0, :3]
    assert np.abs(path).max() > 0.5
    assert np.linalg.norm(x - [0.0, 0.0, 1.5] - path[: len(x)], axis=1).max() < 0.02


def test_a_fed_forward_wrench_holds_what_the_model_does_not_know_of(tmp_path: Path) -> None:
    fly(tmp_path / "first", "hover", PUSH, duration=6.0)
    bag, keys = tmp_path / "first" / "bag", {"topic": "/iap/reference", "begin": 4.0}
    no_integral = "control.gains.kI=[0, 0, 0, 0, 0, 0]"
    off = "control.gains.disturbance.bandwidth=[0, 0]"
    settings = (PUSH, no_integral, off)
    _, alone = replayed(bag, tmp_path / "alone", *settings, **keys)
    keys["wrench_topic"] = "/iap/command"
    result, helped = replayed(bag, tmp_path / "helped", *settings, **keys)
    assert result.metrics["recording"]["wrenches"][0]["use"] == "fed forward"
    errors = [
        np.abs(each.columns.x[:, 0, 0] - each.columns.reference[:, 0]).max()
        for each in (alone, helped)
    ]
    assert errors[0] > 0.01
    assert errors[1] < 0.2 * errors[0]


def test_measured_wrenches_are_drawn_and_compared_axis_by_axis(tmp_path: Path) -> None:
    measured = np.array([0.5, -0.2, 0.0, 0.0, 0.0, 0.1])
    poses = np.tile([0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0], (len(T), 1))
    bag = write(tmp_path, "base_link", np.tile(measured, (len(T), 1)), poses=poses)
    result, flight = replayed(bag, tmp_path / "run", actual_wrench_topic="/wrench")
    metrics = result.metrics
    np.testing.assert_allclose(metrics["contact_force_rmse_n"], np.abs(measured[:3]), atol=1e-9)
    np.testing.assert_allclose(metrics["contact_torque_rmse_nm"], np.abs(measured[3:]), atol=1e-9)
    np.testing.assert_allclose(metrics["estimated_force_rmse_n"], np.abs(measured[:3]), atol=0.02)
    contact = flight_curves(load_run(tmp_path / "run").meta, flight).contact
    assert contact is not None
    assert contact.measured is not None
    np.testing.assert_allclose(contact.measured.wrenches, np.tile(measured, (len(T), 1)))


def lifting(force: float = 57.9) -> Array:
    """Wrenches (K, 6) that hold three_star up at `T`."""
    return np.tile([0.0, 0.0, force, 0.0, 0.0, 0.0], (len(T), 1))


Refused = Callable[[Path], tuple[Path, dict[str, Any], tuple[str, ...]]]
REFUSED: dict[str, tuple[Refused, str]] = {
    "a frame that says nothing": (
        lambda folder: (write(folder, "tool_link", lifting()), {}, ()),
        "frame tool_link is no known one: --wrench-frame body or world",
    ),
    "no frame": (
        lambda folder: (write(folder, "", lifting()), {}, ()),
        "it names no frame: --wrench-frame",
    ),
    "another topic": (
        lambda folder: (write(folder, "base_link", lifting()), {"wrench_topic": "/w"}, ()),
        "--wrench-topic /w: no such topic; it holds /wrench",
    ),
    "thrust without a unit": (
        lambda folder: (write(folder, "base_link", lifting(0.4)), {}, ()),
        "mean force along z is 0.4 N, and the platform weighs",
    ),
    "a force downwards": (
        lambda folder: (write(folder, "base_link", lifting(-57.9)), {}, ()),
        "other axes (--convention ned)",
    ),
    "a gap": (
        lambda folder: (write(folder, "base_link", lifting(), T + 2.0 * (T > 0.5)), {}, ()),
        "--bridge",
    ),
    "a platform that tilts to push": (
        lambda folder: (write(folder, "base_link", lifting()), {}, ("platform=f450",)),
        "push along every axis (--platform)",
    ),
    "no poses to feed back": (
        lambda folder: (
            write(folder, "base_link", lifting()),
            {"wrench_use": "feed_forward"},
            (),
        ),
        "it has no poses for the feedback; open_loop flies wrenches alone",
    ),
    "numbers that are none": (
        lambda folder: (write(folder, "base_link", lifting() * np.nan), {}, ()),
        "force.x is nan",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrenches_that_cannot_be_flown_are_refused_with_the_remedy(
    tmp_path: Path, case: str
) -> None:
    make, words = REFUSED[case]
    bag, keys, assignments = make(tmp_path)
    keys = {"wrench_topic": "/wrench", **keys}
    with pytest.raises(BadInput) as refusal:
        options = Options(
            engine="closed_form",
            platform="f450" if assignments else None,
        )
        scenario, _ = resolve_replay({"path": str(bag), **keys}, options)
        Flight.of(scenario)
    assert words in str(refusal.value)


def test_the_command_line_names_what_it_flies_and_keeps_it(
    first: tuple[Path, VehicleRun],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    bag = str(first[0])
    command = ["replay", bag, "--topic", "/iap/reference", "--wrench-topic", "/iap/command"]
    command += ["--engine", "closed_form", "--duration", "0.2", "--no-plot", "--json"]
    assert main([*command, "--out", "run"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["recording"]["wrenches"][0]["topic"] == "/iap/command"
    assert "wrench: topic /iap/command (iap_msgs/PlatformCommand), in body axes" in err
    text = (tmp_path / "run" / "config.yaml").read_text()
    assert "wrench_use: feed_forward" in text
    assert main(["run", "run/config.yaml", "--no-plot", "--out", "again"]) == 0
