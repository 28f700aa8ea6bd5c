# SPDX-License-Identifier: BSD-3-Clause
"""Every reading has the stamp of its state, at a rate that steps allow; no sensor, nor its fault, changes another."""

import numpy as np
import pytest
from watched_flights import SMALL, watch

from iap_description.math import so3
from iap_description.sensors.readings import ImageReading
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.mounted.sampling import nearest_rate
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.simulation.simulation import Simulation

NOTHING = np.zeros((0, 13))
SENSORS = {"sensors": "imu,uwb", "duration": 1.0, "seed": 4}
FAULT = {"at": 0.3, "sensor": "imu", "aircraft": 2, "for": 0.2}


@pytest.fixture(scope="module")
def flown(opengl):
    return watch(
        "figure_eight",
        *SMALL,
        renderer=opengl,
        sensors="stereo",
        scene="textured_walls",
        duration=4.0,
    )


@pytest.mark.slow
def test_images_have_the_stamps_of_states_and_come_at_their_rate(flown):
    images = [each for each in flown.readings if isinstance(each, ImageReading)]
    assert {each.t for each in images} <= set(flown.t)
    left = flown.images("/iap/drone_1/left")
    np.testing.assert_allclose(np.diff([each.t for each in left]), 0.05, atol=1e-12)
    assert len({each.source.topic for each in images}) == 6
    assert len(images) == 6 * len(left)


def test_an_image_shows_the_state_of_its_stamp_and_not_the_next_one(flown, opengl):
    """Rendered again from recorded states, an image is found at its own stamp, bit for bit, and nowhere near it."""
    rig = rig_spec(flown.scenario)
    cameras = MountedCameras(rig, mounted_cameras_of(rig), opengl)
    camera = cameras.cameras[0]
    for image in flown.images(camera.mount.source.topic)[40:60:5]:
        k = int(np.searchsorted(flown.t, image.t))
        assert flown.t[k] == image.t
        difference = []
        for near in range(k - 2, k + 3):
            (again,) = cameras.shoot([camera], image.t, RigState(flown.x[near], NOTHING))
            difference.append(np.abs(again.pixels.astype(int) - image.pixels).mean())
        assert difference[2] == 0.0
        assert min(difference[:2] + difference[3:]) > 0.0


def test_inertial_samples_are_5_ms_apart_exactly(flown):
    for topic in ("/iap/imu", "/iap/drone_2/imu"):
        stamps = np.array([round(each.t * 1e9) for each in flown.inertial(topic)])
        assert set(np.diff(stamps)) == {5_000_000}
        assert stamps[0] == 5_000_000


def test_equal_seeds_say_the_same_and_others_do_not():
    first, again, other = (
        watch("hover", sensors="imu,uwb", duration=0.5, seed=seed) for seed in (3, 3, 4)
    )
    for topic in ("/iap/drone_1/imu", "/iap/imu"):
        a, b, c = (
            np.array([each.f_S for each in one.inertial(topic)]) for one in (first, again, other)
        )
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)


@pytest.mark.slow
def test_a_sensor_changes_no_other_and_no_flight():
    bare, few, many = (
        watch("hover", sensors=names, duration=0.5) for names in ("none", "imu", "imu,uwb,lidar")
    )
    np.testing.assert_array_equal(bare.x, many.x)
    a, b = (np.array([each.w_WS_S for each in one.inertial("/iap/imu")]) for one in (few, many))
    np.testing.assert_array_equal(a, b)
    assert not bare.readings
    assert many.of("/iap/drone_1/lidar")


def test_the_orientation_of_inertial_readings_is_an_estimate_near_the_truth(flown):
    readings = flown.inertial("/iap/drone_1/imu")
    truth = flown.x[1 : 1 + len(readings), 1, 3:7]
    estimate = np.array([each.q_WS for each in readings[: len(truth)]])
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(truth), estimate))
    tilt = np.rad2deg(np.linalg.norm(turn[:, :2], axis=1))
    assert 0.05 < tilt.max() < 2.0


def test_ranges_are_those_of_the_tags_and_not_of_the_centres_of_mass():
    one = watch("hover", "sensors.uwb=perfect", sensors="uwb", duration=0.1)
    reading = one.of("/iap/drone_2/uwb")[-1]
    k = int(np.searchsorted(one.t, reading.t))
    row = one.x[k, 2]
    tag = row[:3] + so3.rotate(row[3:7], np.array([0.0, 0.0, 0.06]))
    np.testing.assert_allclose(
        reading.ranges, np.linalg.norm(reading.p_W - tag, axis=1), atol=1e-9
    )
    assert reading.source.frame == "iap/drone_2_uwb"


@pytest.mark.parametrize(("wanted", "every"), [(1000.0, 1), (200.0, 5), (20.0, 50), (0.5, 2000)])
def test_a_rate_that_divides_is_kept(wanted, every):
    assert nearest_rate(wanted, 1000.0) == (wanted, every)


@pytest.mark.parametrize(
    ("wanted", "rate", "every"),
    [(30.0, 200.0 / 7.0, 7), (180.0, 200.0, 1), (149.0, 100.0, 2), (160.0, 200.0, 1)],
)
def test_a_rate_that_does_not_divide_becomes_the_nearest_that_does(wanted, rate, every):
    assert nearest_rate(wanted, 200.0) == (pytest.approx(rate), every)


def test_no_sensor_is_faster_than_the_steps():
    assert nearest_rate(5000.0, 1000.0) == (1000.0, 1)


@pytest.mark.parametrize("steps_hz", [200.0, 240.0, 1000.0])
def test_no_other_rate_that_divides_is_nearer(steps_hz):
    for wanted in (3.3, 7.0, 29.97, 47.0, 61.5, 99.0, 123.0, 199.0):
        rate, _ = nearest_rate(wanted, steps_hz)
        best = min(abs(steps_hz / n - wanted) for n in range(1, 1000))
        assert abs(rate - wanted) == pytest.approx(best)


def said(*faults, steps=160, resets=0):
    """Values by topic and stamp [ns] that a short hover's sensors say."""
    out = {}
    with Simulation.of("hover", settings={"faults": list(faults)}, **SENSORS) as simulation:
        for _ in range(resets):
            while simulation.t < 0.4:
                simulation.step()
            simulation.reset()
        for _ in range(steps):
            simulation.step()
            for reading in simulation.readings:
                out.setdefault(reading.source.topic, {})[reading.stamp] = value_of(reading)
    return out


def value_of(reading):
    fields = {"imu": "w_WS_S", "mag": "field_S", "uwb": "ranges"}
    return getattr(reading, fields[reading.source.topic.rpartition("/")[2]])


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)


@pytest.fixture(scope="module")
def sound():
    return said()


def test_a_silent_unit_says_nothing_and_then_what_it_would_have_said(sound):
    heard = said({**FAULT, "output": "silent"})
    topic = "/iap/drone_2/imu"
    kept = {t: v for t, v in sound[topic].items() if not 300_000_000 <= t < 500_000_000}
    assert len(sound[topic]) - len(kept) == 40
    assert same(heard[topic], kept)
    assert all(same(heard[other], sound[other]) for other in sound if other != topic)


def test_a_frozen_unit_repeats_its_last_sample_with_new_stamps(sound):
    heard = said({**FAULT, "output": "frozen"})["/iap/drone_2/imu"]
    true = sound["/iap/drone_2/imu"]
    assert heard.keys() == true.keys()
    for t in true:
        source = 295_000_000 if 300_000_000 <= t < 500_000_000 else t
        np.testing.assert_array_equal(heard[t], true[source])


def test_without_an_aircraft_the_sensors_of_all_bodies_fail_and_for_good(sound):
    heard = said({"at": 0.3, "sensor": "imu", "output": "silent"})
    for body in ("", "/drone_1", "/drone_2", "/drone_3"):
        assert max(heard[f"/iap{body}/imu"]) == 295_000_000
    assert same(heard["/iap/drone_1/uwb"], sound["/iap/drone_1/uwb"])


@pytest.mark.parametrize("output", ["silent", "frozen"])
def test_after_a_reset_it_fails_as_in_a_first_flight(output):
    fault = {**FAULT, "output": output}
    once, again = said(fault), said(fault, resets=1)
    assert once.keys() == again.keys()
    assert all(same(once[topic], again[topic]) for topic in once)
