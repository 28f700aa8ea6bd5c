# SPDX-License-Identifier: BSD-3-Clause
"""Rays of many worlds are those of single runs, also on Warp."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.sensors.readings import ImageReading
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_sensors.rays.clouds import cloud_of
from iap_sensors.rays.images import KINDS
from iap_simulation.batch import batch_support
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

FIELD = {
    "trees": {"preset": "trees", "count": 12, "free": [[0.0, 0.0, 1.5]]},
    "rods": {"preset": "rods", "count": 8},
    "crate": {"preset": "boxes", "count": 1, "seed": 5},
}
CAMERA = {"preset": "d455", "width": 32, "height": 24, "outputs": ["depth", "segmentation"]}
DRAWN = {
    "draw.position": 0.3,
    "draw.attitude_deg": 8.0,
    "draw.mount_position": 0.02,
    "draw.mount_tilt_deg": 4.0,
    "world.objects": FIELD,
}
PERIODS = 14
FIELDS = {"trees": {"preset": "trees", "count": 10}, "boxes": {"preset": "boxes"}}
SETTINGS = {"world.objects": FIELDS, "draw.position": 0.5, "draw.attitude_deg": 10.0}
STEP = 1e-3  # of both sensors' ranges [m]: rounding may lead to the next one


def worlds_of(seeds=5, **settings):
    given = {"sensors": {"depth_camera": CAMERA}, **DRAWN, **settings}
    return Worlds.of("hover", seeds, settings=given)


def images_alone(scenario):
    """The last images of drone_1's camera in a single run."""
    with Simulation.of(scenario) as simulation:
        found = {}
        for _ in range(PERIODS + 1):
            simulation.step()
            for each in simulation.readings:
                if isinstance(each, ImageReading) and "drone_1/" in each.source.topic:
                    found[each.encoding] = each
        return found


def test_every_worlds_images_are_those_of_its_single_run_bit_for_bit():
    worlds = worlds_of()
    camera = WorldRaySensor.of(worlds, outputs=["depth", "segmentation"])
    for _ in range(PERIODS):
        worlds.advance()
    assert camera.is_due.all()
    images = camera.images()
    for i in range(len(worlds.seeds)):
        alone = images_alone(worlds.world(i))
        assert alone["32FC1"].t == pytest.approx(worlds.times[i])
        np.testing.assert_array_equal(images["depth"][i], alone["32FC1"].pixels)
        np.testing.assert_array_equal(images["segmentation"][i], alone["16UC1"].pixels)
        assert np.isfinite(images["depth"][i]).mean() > 0.1


@pytest.mark.parametrize("preset", ["d455", "oak_d", "fisheye", "vl53l5cx", "os1_64"])
def test_a_world_sees_the_same_in_any_company(preset):
    lidar = preset in ("vl53l5cx", "os1_64")
    small = {"columns": 8, "channels": 8} if lidar else {"width": 24, "height": 16}
    outputs = [each for each in KINDS if each != "depth" or preset in ("d455", "oak_d")]
    many, one = Worlds.of("hover", 33, settings=DRAWN), Worlds.of("hover", [29], settings=DRAWN)
    for _ in range(4):
        many.advance()
        one.advance()
    together, alone = (
        WorldRaySensor.of(each, preset, outputs, **small).images() for each in (many, one)
    )
    for name in outputs:
        np.testing.assert_array_equal(together[name][29], alone[name][0], err_msg=name)
    assert (together["range"][29] != together["range"][28]).any()


def test_threads_change_nothing():
    found = []
    for threads in (1, 2):
        worlds = Worlds.of("hover", 70, settings=DRAWN, threads=threads)
        found.append(WorldRaySensor.of(worlds, "d455", width=24, height=16).images()["depth"])
    np.testing.assert_array_equal(*found)


def test_after_a_reset_a_world_sees_what_its_new_seed_draws_and_others_see_what_they_saw():
    worlds, fresh = worlds_of(4), worlds_of([8])
    camera = WorldRaySensor.of(worlds, outputs=["range", "faces"])
    before = camera.images()
    worlds.reset([2], [8])
    after, expected = (
        camera.images(),
        WorldRaySensor.of(fresh, outputs=["range", "faces"]).images(),
    )
    for name in before:
        np.testing.assert_array_equal(after[name][2], expected[name][0])
        np.testing.assert_array_equal(after[name][[0, 1, 3]], before[name][[0, 1, 3]])
    assert (after["faces"][2] != before["faces"][2]).any()


def test_a_restored_snapshot_is_seen_again():
    worlds = worlds_of(3)
    camera = WorldRaySensor.of(worlds, outputs=["range"])
    snapshot, before = worlds.snapshot(), camera.images()["range"]
    worlds.reset([1], [77])
    for _ in range(3):
        worlds.advance()
    assert (camera.images()["range"] != before).any()
    worlds.restore(snapshot)
    np.testing.assert_array_equal(camera.images()["range"], before)


def test_mounts_are_displaced_by_the_seed_and_images_are_noisy_by_the_instant():
    still = {"draw.position": 0.0, "draw.attitude_deg": 0.0, "world.objects": {}}
    fixed = worlds_of(3, **still, **{"draw.mount_position": 0.0, "draw.mount_tilt_deg": 0.0})
    moved = worlds_of(3, **still)
    exact = {"disparity_noise_deg": 0.0, "dropout": 0.0, "baseline": 0.0}
    same, other = (
        WorldRaySensor.of(each, outputs=["range"], **exact).images()["range"]
        for each in (fixed, moved)
    )
    np.testing.assert_array_equal(same[0], same[1])
    assert (other[0] != other[1]).any()
    noisy = WorldRaySensor.of(fixed, outputs=["range"])
    first = noisy.images()["range"]
    np.testing.assert_array_equal(noisy.images()["range"], first)
    assert (first[0] != first[1]).any()
    fixed.advance()
    assert (noisy.images()["range"] != first).any()


def test_fields_with_a_seed_of_their_own_are_alike_in_all_worlds():
    settings = {"world.objects": {"crates": {"preset": "boxes", "seed": 3}}}
    worlds = Worlds.of("hover", 3, settings=settings)
    camera = WorldRaySensor.of(worlds, "d455", ["faces"], width=64, height=48)
    assert camera.rays(0).surface is camera.rays(2).surface
    assert (camera.images()["faces"][0] > 1).any()


def test_a_depth_camera_is_recorded_and_read_back(tmp_path):
    sensors = {"sensors": {"depth_camera": CAMERA}}
    flown, config = resolved("hover", {**sensors, "world.objects": FIELD}, {"duration": 0.2})
    execute(Flight.of(flown), tmp_path, config)
    run = load_run(tmp_path)
    infos = [info for info in run.meta.sensors if info.topic == "/iap/drone_2/depth_camera"]
    assert infos[0].frame == "iap/drone_2_left_camera_optical"
    readings = list(read_sensors(tmp_path / BAG, infos))
    depths = [each for each in readings if each.encoding == "32FC1"]
    assert len(depths) == len(readings) / 2 >= 6
    assert depths[0].pixels.shape == (24, 32)
    assert np.isfinite(depths[0].pixels).any()


def test_a_vehicle_that_flies_into_an_obstacle_has_crashed():
    """A f450 is one body, whose touch of any other object is no crash."""
    wall = {"preset": "walls", "count": 1, "area": [[2.0, 0.0], [2.1, 0.1]], "free": [], "seed": 1}
    size = [[0.5, 0.5, 4.0], [0.6, 0.6, 5.0]]
    move = {"seconds": 3.0, "by": [3.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
    there = {"position": [0.0, 0.0, 2.0], "rpy_deg": [0.0, 0.0, 0.0], "ease": 0.5}
    tree = {
        "platform": "f450",
        "world": {"objects": {"wall": {**wall, "size": size}}},
        "reference": {"type": "moves", **there, "moves": [move]},
        "start": {"lead_in": 0.0},
    }
    with Simulation.of(tree) as simulation, pytest.raises(FlightFailed, match="hit an obstacle"):
        for _ in range(1000):
            simulation.step()
    assert 0.5 < simulation.t < 3.5


def test_more_images_and_obstacles_than_memory_are_refused_with_the_number(monkeypatch):
    monkeypatch.setattr(batch_support, "_free_memory", lambda: 10**7)
    alike, drawn = (worlds_of(4, **given) for given in ({"world.objects": {}}, {}))
    WorldRaySensor.of(alike, "d455", width=640, height=400)
    with pytest.raises(BadInput, match=r"images and obstacles of 4 worlds need about \d+\.\d GB"):
        WorldRaySensor.of(alike, "d455", ["depth", "normals"], width=848, height=480)
    WorldRaySensor.of(drawn, "d455", width=32, height=24)
    many = {"trees": {"preset": "trees", "count": 500}}
    with pytest.raises(BadInput, match=r"images and obstacles of 4 worlds need about \d+\.\d GB"):
        WorldRaySensor.of(worlds_of(4, **{"world.objects": many}), "d455", width=32, height=24)


def test_what_there_is_not_is_refused_by_name():
    worlds = Worlds.of("hover", 1)
    with pytest.raises(BadInput, match=r"no sensors\.depth_camera"):
        WorldRaySensor.of(worlds)
    with pytest.raises(BadInput, match="aircraft 3"):
        WorldRaySensor.of(worlds, "d455", aircraft=3)
    with pytest.raises(BadInput, match="mount"):
        WorldRaySensor.of(worlds, "d455", mount="nose")


def casting_by_warp():
    """Devices that cast by Warp here: the CPU, and a GPU where there is one."""
    if find_spec("warp") is None:
        return ["warp"]
    from iap_sensors.rays.warp.library import wp

    return ["warp", "cuda"] if wp.is_cuda_available() else ["warp"]


@pytest.fixture(scope="module")
def worlds():
    pytest.importorskip("warp")
    flown = Worlds.of("hover", 3, settings=SETTINGS)
    for _ in range(3):
        flown.advance()
    return flown


@pytest.mark.slow  # compiles the kernel
@pytest.mark.parametrize("device", casting_by_warp())
@pytest.mark.parametrize(
    ("preset", "changes", "outputs"),
    [
        ("d455", {"width": 64, "height": 48}, ["depth", "range", "segmentation", "labels"]),
        ("vlp16", {"columns": 90}, ["range", "faces"]),
        ("os0_128", {"columns": 32}, ["points", "normals"]),
    ],
)
def test_images_are_those_of_embree(worlds, preset, changes, outputs, device):
    one, other = (
        WorldRaySensor.of(worlds, preset, outputs, device=each, **changes).images()
        for each in ("cpu", device)
    )
    for name in outputs:
        assert one[name].shape == other[name].shape
        assert one[name].dtype == other[name].dtype
        alike = np.isclose(one[name], other[name], rtol=1e-4, atol=1.5 * STEP, equal_nan=True)
        assert alike.mean() > 0.998, name
    assert np.isfinite(one[outputs[0]]).any()


@pytest.mark.slow
@pytest.mark.parametrize("device", casting_by_warp())
def test_two_casts_are_equal_bit_for_bit_and_arrays_stay_on_the_device(worlds, device):
    outputs = ["depth", "segmentation"]
    camera = WorldRaySensor.of(worlds, "d455", outputs, device=device, width=64, height=48)
    first, second = camera.images(), camera.images()
    there = camera.images_on_device()
    assert list(there) == outputs
    for name in outputs:
        np.testing.assert_array_equal(first[name], second[name])
        np.testing.assert_array_equal(there[name].numpy().reshape(first[name].shape), first[name])
    if device == "warp":
        np.testing.assert_array_equal(np.from_dlpack(there["depth"]), there["depth"].numpy())


def test_a_device_that_there_is_not_is_refused(worlds):
    with pytest.raises(BadInput, match="no device 'tpu'"):
        WorldRaySensor.of(worlds, "d455", device="tpu")
    with pytest.raises(BadInput, match="on a GPU"):
        WorldRaySensor.of(worlds, "d455").images_on_device()


def test_without_warp_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    for name in ("library", "kernels", "images"):
        monkeypatch.delitem(sys.modules, f"iap_sensors.rays.warp.{name}", raising=False)
    with pytest.raises(BadInput, match="lock/gpu.txt"):
        WorldRaySensor.of(Worlds.of("hover", 1), "d455", device="cuda")


@pytest.mark.parametrize("aircraft", [-1, 3])
def test_a_sensor_is_on_an_aircraft_that_is_there(aircraft):
    worlds = Worlds.of("hover", 1)
    with pytest.raises(BadInput, match=f"^aircraft {aircraft}: '.*' has 3 of them, from 0 on$"):
        WorldRaySensor.of(worlds, "d455", ["depth"], aircraft=aircraft)


@pytest.mark.skipif(find_spec("warp") is not None, reason="warp is installed")
def test_a_device_that_is_not_installed_is_named():
    with pytest.raises(BadInput, match="^rays on a GPU need warp, which is not installed: "):
        WorldRaySensor.of(Worlds.of("hover", 1), "d455", ["depth"], device="warp")


def test_worlds_name_the_vehicles_that_they_have():
    with pytest.raises(BadInput, match=r"^worlds: no vehicle 'x' \(vehicles: iap\)$"):
        Worlds.of("hover", 1).number_of("x")
    with pytest.raises(IapError, match="^worlds: no object 'x'$"):
        Worlds.of("hover", 1).object_angles("x")


LASER = {"preset": "vlp16", "channels": 8, "columns": 45, "rate": 20.0, "dropout": 0.1}


def test_every_worlds_lidar_has_the_points_of_its_single_run_bit_for_bit():
    worlds = worlds_of(3, sensors={"lidar": LASER})
    changes = {key: value for key, value in LASER.items() if key != "preset"}
    lidar = WorldRaySensor.of(worlds, "vlp16", ["points"], **changes)
    for _ in range(10):
        worlds.advance()
    assert lidar.is_due.all()
    points = lidar.images()["points"]
    for i in range(3):
        clouds = []
        with Simulation.of(worlds.world(i)) as simulation:
            for _ in range(11):
                simulation.step()
                clouds += [e for e in simulation.readings if "drone_1/" in e.source.topic]
        cloud = clouds[-1]
        assert cloud.t == pytest.approx(worlds.times[i])
        ours, rings = cloud_of(points[i])
        np.testing.assert_array_equal(cloud.points_S, ours)
        np.testing.assert_array_equal(cloud.rings, rings)
        assert len(rings) > 60
