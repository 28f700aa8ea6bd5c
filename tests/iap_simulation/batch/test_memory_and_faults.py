# SPDX-License-Identifier: BSD-3-Clause
"""Batches that do not fit into memory, devices that there are not, and faults behind a flight's end."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pages import output

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_physics.batch.layout import rows_of
from iap_physics.engines.make import is_installed
from iap_simulation.batch import batch_support
from iap_simulation.batch.batch_support import check_device, check_fits, check_memory
from iap_simulation.batch.worlds import Worlds
from iap_simulation.open_loop.step_response import roll_and_pitch
from iap_simulation.sweeps.study import seeds_fingerprint, tree_fingerprint
from iap_simulation.vehicles.parts import check_times


def test_what_needs_more_memory_than_is_free_says_how_much(monkeypatch):
    monkeypatch.setattr(batch_support, "_free_memory", lambda: 2e9)
    check_fits(2e9, "worlds: 7 of them")
    said = r"^worlds: 7 of them need about 3\.5 GB of memory, and 2\.0 GB are free$"
    with pytest.raises(BadInput, match=said):
        check_fits(3.5e9, "worlds: 7 of them")


@pytest.mark.parametrize(("unit", "count"), [(None, 0), ("imu", 4)])
def test_a_world_needs_24_bytes_a_row_8_kb_of_noise_and_9_kb_a_unit(unit, count, monkeypatch):
    platform = SimpleNamespace(joints=(1, 2, 3))
    vehicle: Any = SimpleNamespace(platform=platform, sensors=SimpleNamespace(imu=unit))
    each = 24 * rows_of(4) + 8000 + 9000 * count
    monkeypatch.setattr(batch_support, "_free_memory", lambda: 7 * 2 * each)
    check_memory(7, [vehicle, vehicle])
    with pytest.raises(BadInput, match="^worlds: 8 of them need about"):
        check_memory(8, [vehicle, vehicle])


DRAWN = {"engine.name": "mujoco", "draw.mass": 0.05, "draw.friction": 0.5}
GROWTH = f"""
from pathlib import Path
from iap_simulation.batch.worlds import Worlds
def made(count):
    return Worlds.of("wall_push", count, settings={DRAWN}, sensors="none")
def resident():
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])
first, before = made(20), resident()
more = made(300)
print((resident() - before) / 300, more._engine.own_bytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_worlds_with_models_of_their_own_take_what_is_counted_within_a_factor_of_two(tmp_path):
    (tmp_path / "growth.py").write_text(GROWTH, encoding="utf-8")
    measured, counted = map(float, output(tmp_path, "growth.py").split())
    assert 0.5 * measured < counted < 2.0 * measured
    assert measured > 100e3


@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_more_worlds_with_models_of_their_own_than_memory_are_refused_in_a_line(monkeypatch):
    monkeypatch.setattr(batch_support, "_free_memory", lambda: 0.5e6)
    line = r"^worlds: models of 10 of them need about \d\.\d GB of memory, and 0\.0 GB are free$"
    with pytest.raises(BadInput, match=line):
        Worlds.of("wall_push", 10, settings=DRAWN, sensors="none")
    alike = {"engine.name": "mujoco"}
    assert len(Worlds.of("wall_push", 10, settings=alike, sensors="none").seeds) == 10


@pytest.mark.parametrize(
    ("rate", "substeps", "fits"),
    [(None, 7, True), (500.0, 4, True), (500.0, 5, False), (250.0, 4, True)],
)
def test_inertial_units_sample_equally_often_in_every_control_period(rate, substeps, fits):
    unit = None if rate is None else SimpleNamespace(rate=rate)
    vehicles = [SimpleNamespace(sensors=SimpleNamespace(imu=unit))]
    rates = SimpleNamespace(substeps=substeps, physics_hz=1000.0)
    flown: Any = SimpleNamespace(vehicles=vehicles, rates=rates)
    assert batch_support.samples_fit(flown) == fits


def test_worlds_on_this_machine_have_no_memory_of_a_gpu():
    assert batch_support.gpu_of("cpu") is None


def test_an_unknown_device_is_refused_with_those_that_there_are():
    check_device("cpu")
    with pytest.raises(BadInput, match="^device 'tpu': cpu or cuda is expected$"):
        check_device("tpu")


def scenario(*times: list[float]) -> Any:
    vehicles = [SimpleNamespace(faults=[SimpleNamespace(at=t) for t in each]) for each in times]
    return SimpleNamespace(vehicles=vehicles)


def test_a_fault_strikes_before_the_flight_ends():
    check_times(scenario([0.0, 9.99]), 10.0)
    with pytest.raises(
        BadInput, match=r"^key 'faults\.1\.at': 10 s, but the flight ends at 10 s$"
    ):
        check_times(scenario([1.0, 10.0]), 10.0)
    with pytest.raises(BadInput, match=r"^key 'vehicles\.1\.faults\.0\.at': 12 s"):
        check_times(scenario([1.0], [12.0]), 10.0)


def test_a_study_is_known_by_its_tree_without_the_seed_and_by_its_seeds():
    tree = {"a": 1.0, "seed": 3}
    assert tree_fingerprint(tree) == tree_fingerprint({**tree, "seed": 4})
    assert tree_fingerprint(tree) != tree_fingerprint({**tree, "a": 2.0})
    assert seeds_fingerprint("x", [1, 2]) == seeds_fingerprint("x", (1, 2))
    assert (
        len(
            {
                seeds_fingerprint("x", [1, 2]),
                seeds_fingerprint("x", [2, 1]),
                seeds_fingerprint("y", [1, 2]),
            }
        )
        == 3
    )


def test_roll_and_pitch_are_in_degrees_and_do_not_see_the_yaw():
    rows = []
    for yaw in (0.0, 2.0):
        parts = [so3.quaternion_exp(np.array(each)) for each in
                 ((0.0, 0.0, yaw), (0.0, np.radians(20.0), 0.0), (np.radians(-30.0), 0.0, 0.0))]  # fmt: skip
        rows.append(2.0 * so3.multiply(parts[0], so3.multiply(parts[1], parts[2])))
    np.testing.assert_allclose(roll_and_pitch(np.array(rows)), [[-30.0, 20.0]] * 2)
