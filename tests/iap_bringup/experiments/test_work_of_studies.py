# SPDX-License-Identifier: BSD-3-Clause
"""The work of studies on made-up flights, images and processes: what is flown, and what becomes of its numbers."""

import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.experiments import (
    camera_effects,
    contact,
    firmware,
    landing,
    photometry,
)
from iap_bringup.experiments.firmware import FirmwareCase, FirmwareErrors
from iap_description.errors import BadInput


def quiet(_):
    """Tell nobody."""


def test_a_camera_has_the_gain_and_the_line_of_its_sensor(monkeypatch):
    monkeypatch.setattr(camera_effects, "LEVELS", np.array([0.1, 0.4, 0.7]))
    gain, chart = camera_effects.photon_transfer()
    assert gain < 1.5 and chart < 0.5
    monkeypatch.setattr(camera_effects, "SYSTEM_GAIN", 1.25 * camera_effects.SYSTEM_GAIN)
    assert camera_effects.photon_transfer()[0] == pytest.approx(20.0, abs=1.5)


def test_exposures_follow_their_equation():
    assert camera_effects.exposure_off(count=4) < 1.0
    even = camera_effects._even(camera_effects._camera({"sensor": camera_effects.SENSOR}), 0.5)
    assert even.shape == (480, 640) and even.mean() == pytest.approx(132.5, abs=0.1)


def test_effects_of_cameras_are_bars_and_the_worse_of_two_lenses_counts(monkeypatch):
    off = {"plumb_bob": 0.125, "equidistant": 0.05, "double_sphere": 0.0625}

    def spots_off(renderer, keys, *, moving=True):
        name = next((n for n, lens in camera_effects.LENSES.items() if lens is keys), "none")
        return (0.25 if name == "plumb_bob" else 0.125) if moving else off[name]

    monkeypatch.setattr(camera_effects, "photon_transfer", lambda: (4.0, 1.0))
    monkeypatch.setattr(camera_effects, "exposure_off", lambda: 0.5)
    monkeypatch.setattr(camera_effects, "spots_off", spots_off)
    told = []
    bars = camera_effects.camera_bars(told.append, None)
    assert [bar.measured for bar in bars] == [4.0, 1.0, 0.5, 0.25, *off.values()]
    assert [bar.limit for bar in bars] == [5.0, 2.0, 1.0, 0.2, 0.1, 0.1, 0.1]
    assert told[0] == "0 of 6: photon transfer" and told[3:] == [
        f"{n} of 6: lens {name}" for n, name in enumerate(off, 3)
    ]


def test_a_platform_that_stands_is_measured_for_a_second_after_it_has_settled():
    applied, x = [], np.zeros((1, 3, 13))
    x[0, 1:, 3:7] = [[0.1, 0.2, 0.3, -0.9], [0.1, 0.2, 0.3, 0.9]]
    x[0, :, 10:] = [[9.0, 9.0, 9.0], [1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]
    engine = SimpleNamespace(
        state=lambda: x,
        apply=lambda loads: applied.append(loads.copy()),
        step=lambda dt: x.__setitem__((0, 0, 0), x[0, 0, 0] + dt),
        contact_wrench=lambda body: np.array([1.0, 2.0, 40.0 + body, 0.0, 0.0, 0.0]),
    )
    forces, positions = contact._stand(engine, 10.0)
    assert forces.tolist() == [40.0] * 10
    assert positions[:, 0] == pytest.approx(np.linspace(1.1, 2.0, 10))
    assert not applied[0][0, 0].any() and not applied[0][0, :, :3].any()
    assert applied[0][0, 1, 3:] == pytest.approx([0.4 - 0.4, 0.8 - 0.8, 1.2 - 1.2])
    assert applied[0][0, 2, 3:] == pytest.approx([-0.4, -0.8, -1.2 - 0.4])


def test_estimates_of_a_run_are_those_from_a_time_on(monkeypatch, tmp_path):
    wrenches = np.arange(4.0 * 30).reshape(4, 5, 6)
    record = SimpleNamespace(wrenches=wrenches)
    columns = SimpleNamespace(t=np.array([0.0, 0.5, 1.0, 1.5]), wrench_record=record)
    run = SimpleNamespace(vehicles=[SimpleNamespace(columns=columns)])
    monkeypatch.setattr(contact, "load_run", lambda folder: run)
    found = contact._estimates(tmp_path, 1.0)
    np.testing.assert_array_equal(found, wrenches[2:, contact.ESTIMATED])
    asked = {}
    monkeypatch.setattr(
        contact,
        "record",
        lambda scenario, **options: asked.update(options) or SimpleNamespace(metrics={"m": 1}),
    )
    assert contact.fly(tmp_path, "x", "hover", duration=4.0) == {"m": 1}
    assert asked == {"folder": tmp_path / "x", "duration": 4.0}


def flown(largest, digest="a", speed=7.0, force=math.nan):
    """Errors of a flight by firmware of eight steps, whose largest is the third, and half as large at the end."""
    errors = np.zeros((8, 2))
    errors[2], errors[7] = largest, np.multiply(0.5, largest)
    return FirmwareErrors(errors, digest, speed, force)


def test_bars_of_firmware_are_of_the_worst_flight_and_of_the_end(monkeypatch):
    monkeypatch.setattr(firmware, "SETTLED", 8.0)
    case = FirmwareCase("c", "f450", "hover", 16.0, 0.5, 2.0, (0.25, 1.0), 3.0)
    pairs = [
        [flown((0.1, 4.0)), flown((0.2, 2.0), speed=5.0)],
        [flown((0.4, 1.0)), flown((0.1, 1.0), "b", 9.0)],
    ]
    assert [(bar.what, bar.measured, bar.limit) for bar in firmware._bars(case, pairs)] == [
        ("c: position (m)", 0.4, 0.5),
        ("c: attitude (deg)", 4.0, 2.0),
        ("c, after 8 s: position (m)", 0.2, 0.25),
        ("c, after 8 s: attitude (deg)", 2.0, 1.0),
        ("c: flights that differ when repeated", 1.0, 0.0),
        ("c: times real time", 9.0, 3.0),
    ]
    plain = case._replace(angle=None, settled=None)
    assert [bar.what for bar in firmware._bars(plain, pairs)] == [
        "c: position (m)", "c: flights that differ when repeated", "c: times real time",
    ]  # fmt: skip


def test_a_press_by_firmware_has_the_bar_of_its_worst_force_and_none_of_its_position():
    case = FirmwareCase("c", "three_star", "wall_push", 28.0, None, None, force=0.2)
    pairs = [[flown((9.0, 9.0), force=0.1), flown((9.0, 9.0), force=0.3)]]
    first, *_ = bars = list(firmware._bars(case, pairs))
    assert (first.what, first.measured, first.limit) == ("c: force RMSE (N)", 0.3, 0.2)
    assert [bar.what for bar in bars[1:]] == [
        "c: flights that differ when repeated", "c: times real time",
    ]  # fmt: skip
    assert case.quick == case._replace(duration=1.0, force=None)


@pytest.mark.parametrize(("differing", "digests"), [(0, "aaaaaaaaa"), (2, "aabaaaaca")])
def test_flights_beside_each_other_are_held_against_one_alone(differing, digests, monkeypatch):
    begun, left = [], iter(digests)

    class Pool:
        def __init__(self, processes):
            begun.append(processes)

        def map(self, do, pieces):
            yield from (SimpleNamespace(result=do(each)) for each in pieces)

    monkeypatch.setattr(firmware, "ProcessPool", Pool)
    monkeypatch.setattr(firmware, "fly", lambda *_: flown((0.0, 0.0), "a"))
    monkeypatch.setattr(firmware, "_digest_of", lambda *_: next(left))
    (bar,) = firmware.beside_others(quiet, quick=True)
    assert begun == [9] and bar.measured == differing and bar.limit == 0.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("firmware: {name: betaflight, gain: 1.0}", "unknown key 'firmware.gain'"),
        ("firmware: 3", "key 'firmware': a name or a mapping is expected"),
        ("hover: 1", r"'firmware' is the one key that is expected, found \['hover'\]"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_of_firmware_that_is_wrong_is_refused_in_a_line(text, words, tmp_path):
    path = tmp_path / "newer.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadInput, match=f"newer.yaml: {words}"):
        firmware.firmware_of(path)


def test_a_file_of_firmware_has_all_that_it_leaves_out(tmp_path):
    path = tmp_path / "newer.yaml"
    path.write_text("firmware: {name: betaflight, command: [sitl, --ip, here], gyro_yaw: flu}")
    settings = firmware.firmware_of(path)
    assert settings["command"] == ["sitl", "--ip", "here"] and settings["gyro_yaw"] == "flu"
    assert settings["rate_hz"] == 1000.0


@pytest.mark.parametrize(("quick", "seeds"), [(True, (0,)), (False, (0, 1, 2))])
def test_every_case_of_firmware_is_flown_twice_by_each_seed(quick, seeds, monkeypatch):
    asked, told = [], []

    def fly(case, seed, settings):
        asked.append((case.name, case.duration, case.settled, seed, settings["name"]))
        return flown((0.001, 0.1), force=0.1)

    monkeypatch.setattr(firmware, "fly", fly)
    bars = firmware.firmware_bars(told.append, quick=quick)
    each = 2 * len(seeds)
    assert len(asked) == each * len(firmware.CASES) and all(bar.passes for bar in bars)
    assert [entry[3] for entry in asked[:each]] == [seed for seed in seeds for _ in range(2)]
    assert told[len(seeds)] == "1 of 6: f450, figure-eight, seed 0"
    spiral = [entry for entry in asked if entry[0] == "three_star, spiral"][0]
    assert spiral[1:3] == ((1.0, None) if quick else (20.0, (0.01, 0.5)))
    assert spiral[4] == "betaflight"
    firmware.firmware_bars(quiet, quick=True, firmware={"name": "crazyflie"})
    assert asked[-1][4] == "crazyflie"


def test_a_landing_has_the_outcome_and_the_worst_of_its_vehicles(monkeypatch):
    asked = []
    monkeypatch.setattr(landing, "resolved", lambda *what: asked.append(what) or ("scenario", {}))
    monkeypatch.setattr(landing, "Flight", SimpleNamespace(of=lambda scenario: scenario))
    monkeypatch.setattr(landing, "Simulation", nullcontext)
    metrics = {"outcome": "completed", "landing": {"force_n": 8.0, "vehicles": {"a": {}}}}
    monkeypatch.setattr(landing, "score", lambda *_: (metrics, None))
    flight = landing.LandingFlight("f450", "hover", {"start.mode": "ground"}, "f450", 100.0)
    assert landing.landing_of(flight, "mujoco") == {"outcome": "completed", "force_n": 8.0}
    landing.landing_of(flight._replace(platform=None), "pybullet")
    assert asked == [
        ("hover", {"start.mode": "ground", "engine.name": "mujoco"}, {"platform": "f450"}),
        ("hover", {"start.mode": "ground", "engine.name": "pybullet"}, {}),
    ]
    del metrics["landing"]
    assert landing.landing_of(flight, "mujoco") == {"outcome": "completed"}


def test_light_of_surfaces_is_beside_that_of_paths(monkeypatch):
    made = {
        name: SimpleNamespace(name=name, close=lambda name=name: closed.append(name))
        for name in ("physical", "mitsuba")
    }
    closed, told, lit = [], [], []

    def mean_light(renderer, scene, view):
        lit.append((scene.lighting.exposed_for, scene.weather.clouds))
        return {"physical": 90.0, "mitsuba": 100.0}[renderer.name]

    monkeypatch.setattr(photometry, "make_renderer", made.__getitem__)
    monkeypatch.setattr(photometry, "agreement", lambda report: [])
    monkeypatch.setattr(photometry, "mean_light", mean_light)
    monkeypatch.setattr(photometry, "find_spec", lambda name: name)
    bars = photometry.photometry(told.append)
    assert [round(bar.measured, 9) for bar in bars] == [10.0] * 6
    assert [bar.limit for bar in bars] == [5.0] * 3 + [8.0] * 3
    assert bars[1].what == (
        "broad_station under the sun alone: mean 0.900 of that of paths, off by [%]"
    )
    assert told[4] == "4 of 6: broad_station under the sky alone"
    assert lit[0] == (150e3, 0.0) and lit[-1] == (40e3, 1.0)
    assert closed == ["mitsuba", "physical"]
    monkeypatch.setattr(photometry, "find_spec", lambda name: None)
    assert photometry.photometry(told.append) == [] and told[-1].startswith("no Mitsuba")
