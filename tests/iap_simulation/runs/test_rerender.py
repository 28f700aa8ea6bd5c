# SPDX-License-Identifier: BSD-3-Clause
"""Runs are rendered again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_flights import Flight, random_flight, run_meta
from made_up_sensors import imu, reading
from recorded_poses import NOTES, Poses

from iap_description.errors import BadInput
from iap_description.sensors.readings import ImageReading, Reading
from iap_io.recording.recorder import Recorder
from iap_io.runs.run_folder import load_run
from iap_io.runs.run_meta import PLAIN
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_simulation.runs.rerender import rerender
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.sweeps.process_pool import ProcessPool
from iap_simulation.sweeps.spread_rendering import (
    FrameFolder,
    KeptFrames,
    chunks_of_run,
    spread,
)

TICKS = 45


def _scenario(*assignments: str, sensors: str = "stereo") -> tuple[Scenario, dict[str, Any]]:
    size = [
        f"sensors.cameras.{name}.{key}={value}"
        for name in (("left", "right") if sensors == "stereo" else ())
        for key, value in (("width", 64), ("height", 48))
    ]
    return resolve("hover", Options(sensors=sensors, assignments=(*size, *assignments)))


def _record(folder: Path, scenario: Scenario) -> Flight:
    """A run with an inertial unit and cameras."""
    flight, rig = random_flight("three_star", TICKS), rig_spec(scenario)
    seeing = mounted_cameras_of(rig)
    sensors = (imu(), *(each.info for each in seeing))
    cameras = MountedCameras(rig, seeing, Poses())
    cameras.reset(1)
    with Recorder(folder, run_meta(flight).model_copy(update={"sensors": sensors})) as recorder:
        rng = np.random.default_rng(0)
        for k in range(TICKS):
            for each in (*_samples(flight, k, rng), *_seen(cameras, flight, k)):
                recorder.receive(each)
            flight.record(recorder, k)
    return flight


def _samples(flight: Flight, k: int, rng: np.random.Generator) -> list[Reading]:
    return reading(imu(), flight.t[k], rng)


def _seen(cameras: MountedCameras, flight: Flight, k: int) -> list[ImageReading]:
    return cameras.sample(k, flight.t[k], RigState(flight.x[k], np.zeros((0, 13))))


def _again(tmp_path: Path, scenario: Scenario, config: dict[str, Any]) -> Path:
    out = tmp_path / "again"
    out.mkdir()
    times: list[float] = []
    cameras = rerender(
        tmp_path,
        out,
        scenario,
        config,
        renderer=Poses(),
        recording=PLAIN,
        progress=times.append,
    )
    assert cameras.count == 6 * 5 or cameras.count == 6 * 9
    assert times == [0.0]
    return out


def test_the_same_cameras_see_the_same_bit_for_bit(tmp_path: Path) -> None:
    scenario, config = _scenario()
    _record(tmp_path, scenario)
    out = _again(tmp_path, scenario, config)
    files = [folder / BAG / "bag_0.mcap" for folder in (tmp_path, out)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert (out / "config.yaml").exists()
    assert (out / "trajectory_iap_drone_1.tum").exists()


def test_other_cameras_see_the_same_motion_and_all_else_stays(tmp_path: Path) -> None:
    _record(tmp_path, _scenario()[0])
    faster = [f"sensors.cameras.{name}.rate=40.0" for name in ("left", "right")]
    out = _again(tmp_path, *_scenario(*faster))
    before, after = load_run(tmp_path), load_run(out)
    np.testing.assert_array_equal(after.vehicles[0].columns.x, before.vehicles[0].columns.x)
    assert [each.rate for each in after.meta.sensors] == [200.0, *[40.0] * 6]
    samples = [list(read_sensors(folder / BAG, [imu()])) for folder in (tmp_path, out)]
    assert len(samples[0]) == len(samples[1]) == TICKS
    images = list(read_sensors(out / BAG, after.meta.sensors[1:2]))
    assert [each.t for each in images] == pytest.approx(np.arange(9) * 0.025)


def test_what_cannot_be_rendered_again_is_refused(tmp_path: Path) -> None:
    _record(tmp_path, _scenario()[0])
    (tmp_path / "out").mkdir()

    def refused(match: str, scenario: Scenario, config: dict[str, Any]) -> None:
        with pytest.raises(BadInput, match=match):
            rerender(
                tmp_path,
                tmp_path / "out",
                scenario,
                config,
                renderer=Poses(),
                recording=PLAIN,
                progress=lambda _: None,
            )

    refused("no camera to render", *_scenario(sensors="imu"))
    refused("vehicles iap were recorded, not other", *_scenario("name=other"))
    surface = "surface: {friction: 0.4, restitution: 0.0}"
    crate = f"{{type: box, position: [3, 0, 1], size: [1, 1, 1], mass: 1.0, {surface}}}"
    refused(
        r"world\.objects\.crate.*moves freely", *_scenario(f"world.objects={{crate: {crate}}}")
    )
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.slow
def test_images_spread_over_two_workers_are_complete_and_none_twice_though_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, notes = tmp_path / "run", tmp_path / "notes"
    run.mkdir()
    notes.mkdir()
    monkeypatch.setenv(NOTES, str(notes))
    faster = [f"sensors.cameras.{name}.rate=100.0" for name in ("left", "right")]
    scenario, config = _scenario("renderer=recorded_poses:MortalPoses", *faster)
    _record(run, scenario)
    chunks, folder = chunks_of_run(run, scenario, config), FrameFolder(tmp_path / "frames")
    said: list[str] = []
    spread(chunks, folder, ProcessPool(2), said.append)
    assert (notes / "killed").exists()
    assert said[-1] == "23 of 23 instants"
    rendered = (notes / "rendered").read_text().splitlines()
    assert spread(chunks, folder, ProcessPool(2), said.append) == 0  # there is nothing left
    assert (notes / "rendered").read_text().splitlines() == rendered
    outs = tmp_path / "kept", tmp_path / "plain"
    for out, renderer in zip(outs, (KeptFrames(folder, chunks), Poses()), strict=True):
        out.mkdir()
        rerender(
            run,
            out,
            scenario,
            config,
            renderer=renderer,
            recording=PLAIN,
            progress=lambda _: None,
        )
    kept, plain = (out / BAG / "bag_0.mcap" for out in outs)
    assert kept.read_bytes() == plain.read_bytes()
    file = folder.path / f"{chunks[2].name}.npz"
    for damaged in (b"cut short", file.read_bytes()[:-30]):
        file.write_bytes(damaged)
        with pytest.raises(BadInput, match=f"{chunks[2].name}.*damaged.*remove it"):
            list(folder.frames(chunks[2]))
