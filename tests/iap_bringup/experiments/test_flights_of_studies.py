# SPDX-License-Identifier: BSD-3-Clause
"""Flights and images of studies through made-up engines and sensors: what is read of them, and in which unit."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.experiments import contact, firmware, piloted_flights, rays, sensors
from iap_bringup.experiments.modules import flight_bars
from iap_bringup.experiments.piloted_flights import COURSES
from iap_description.math import so3
from iap_description.states import P, Q, V


def quiet(_):
    """Tell nobody."""


def test_a_resting_platform_has_its_force_over_its_weight_and_its_jitter_in_millimetres(
    monkeypatch,
):
    engines, rates = [], []

    def engine():
        made = SimpleNamespace(
            load=lambda world, assemblies: None, reset=lambda rows: rates.append(rows.shape),
            closed=0,
        )  # fmt: skip
        made.close = lambda: setattr(made, "closed", made.closed + 1)
        engines.append(made)
        return made

    def stand(engine, rate):
        rates.append(rate)
        return np.array([50.0, 70.0]), np.array([[0.0, 0.0, 0.0], [0.001, 0.0, 0.004]])

    monkeypatch.setattr(contact, "PyBulletEngine", engine)
    monkeypatch.setattr(contact, "_stand", stand)
    monkeypatch.setattr(
        contact, "Assembly", SimpleNamespace(of=lambda p: SimpleNamespace(mass=6.0))
    )
    monkeypatch.setattr(contact, "joined_rows", lambda assembly, start: np.zeros((4, 13)))
    told = []
    rows = contact.resting(told.append)
    assert (
        list(rows) == ["500 Hz", "1000 Hz", "2000 Hz"]
        and [each.closed for each in engines] == [1] * 3
    )
    assert rates[::2] == [(1, 4, 13)] * 3 and rates[1::2] == [500.0, 1000.0, 2000.0]
    row = rows["500 Hz"]
    assert row["force_over_weight"] == pytest.approx(60.0 / (6.0 * 9.80665), rel=1e-3)
    assert row["jitter_mm"] == pytest.approx(4.0) and told[2] == "2 of 3: resting at 2000 Hz"


def test_a_written_flight_is_read_as_it_was_flown(monkeypatch, tmp_path):
    monkeypatch.setattr(piloted_flights, "DURATION", 2.0)
    monkeypatch.setattr(piloted_flights, "IDLE_TIMES", (0.5, 0.5))
    course = COURSES["narrow_station"]
    rows = piloted_flights.fly_scripted(course)
    piloted_flights.write_flight(course, tmp_path / "bag")
    read = piloted_flights.read_recorded(tmp_path / "bag")
    every = piloted_flights.STATES // piloted_flights.RECORDED
    assert len(read.p_WP_W) == len(rows[::every]) and read.duration == pytest.approx(2.0)
    np.testing.assert_allclose(read.p_WP_W, rows[::every, :3], atol=1e-4)
    assert piloted_flights.recordings(tmp_path) == [tmp_path / "bag"]


def test_a_sheet_of_worlds_has_a_row_for_each_picture_and_a_column_for_each_world(monkeypatch):
    told, asked = [], []
    images = {
        "depth": np.full((2, 5, 7), 12.0), "labels": np.zeros((2, 5, 7), int), "normals": np.zeros((2, 5, 7, 3)),
        "points": np.full((2, 3, 3), np.nan),
    }  # fmt: skip

    def of(worlds, preset, outputs, **size):
        asked.append((worlds, preset, outputs, size))
        return SimpleNamespace(images=lambda: images)

    monkeypatch.setattr(rays, "SIZE", {"width": 7, "height": 5})
    monkeypatch.setattr(
        "iap_simulation.batch.worlds.Worlds", SimpleNamespace(of=lambda *what, settings: what)
    )
    monkeypatch.setattr("iap_simulation.batch.ray_sensor.WorldRaySensor", SimpleNamespace(of=of))
    made = rays.sheet(told.append)
    frame = 2 * rays.GAP
    widest = 2 * (7 + rays.GAP) + rays.GAP
    assert made.shape == (3 * 5 + 7 + 4 * frame, widest, 3)
    assert asked[0] == (("hover", 4), "d455", ["depth", "labels", "normals"], {
        "width": 7, "height": 5, "range_max": 12.0,
    })  # fmt: skip
    assert asked[1] == (("hover", 4), "os0_128", ["points"], {}) and len(told) == 3
    assert made[rays.GAP, rays.GAP].tolist() == [253, 231, 37]  # the farthest depth
    assert made[-rays.GAP - 1, rays.GAP].tolist() == [235] * 3  # no point


@pytest.mark.parametrize(
    ("sampling", "first", "count"), [("integrating", 3, 10), ("instantaneous", 2, 11)]
)
def test_dead_reckoning_takes_the_samples_of_its_window_and_compares_its_end(
    sampling, first, count, monkeypatch
):
    monkeypatch.setattr(sensors, "SPAN", 1.0)
    t = 0.1 * np.arange(20)
    x = np.zeros((20, 2, 13))
    x[..., 6] = 1.0
    x[:, 1, 0], x[:, 1, 7] = t, 1.0
    samples = [
        SimpleNamespace(t=each, w_WS_S=np.full(3, k), f_S=np.full(3, -k))
        for k, each in enumerate(t)
    ]
    log = SimpleNamespace(
        t=t, x=x, inertial=lambda unit: samples,
        scenario=SimpleNamespace(world=SimpleNamespace(gravity=9.5)),
    )  # fmt: skip
    seen = []

    def reckon(start, w, f, *, dt, gravity):
        seen.append((start, w, f, dt, gravity))
        turned = so3.quaternion_exp(np.array([0.0, 0.0, 0.25]))
        return x[12, None, 1, P] + [0.0, 0.3, 0.4], turned[None], None

    monkeypatch.setattr(sensors, "reckon", reckon)
    monkeypatch.setattr(sensors, "reckon_instants", reckon)
    assert sensors._reckoned(log, sampling, 0.2) == pytest.approx((0.5, 0.25))
    start, w, f, dt, gravity = seen[0]
    assert w[:, 0, 0].tolist() == [*range(first, first + count)] and (f == -w).all()
    assert (dt, gravity) == (0.1, 9.5)
    for part, where in zip(start, (P, Q, V), strict=True):
        np.testing.assert_array_equal(part[0], x[2, 1, where])


def test_stamps_of_units_and_images_are_off_by_what_they_are(monkeypatch):
    t = 0.005 * np.arange(60)
    unit = [SimpleNamespace(t=each) for each in (0.0, 0.005, 0.010001)]
    images = [SimpleNamespace(t=0.005 * (k % 50) + 0.001 * (k == 3)) for k in range(61)]
    log = SimpleNamespace(
        t=t, inertial=lambda topic: unit, images=lambda topic: images, scenario="scenario"
    )
    monkeypatch.setattr(sensors, "watch", lambda *_: log)
    for name in ("rig_spec", "mounted_cameras_of"):
        monkeypatch.setattr(sensors, name, lambda *_: None)
    monkeypatch.setattr(sensors, "MountedCameras", lambda *_: "cameras")
    looked = []
    monkeypatch.setattr(
        sensors, "_steps_off", lambda log, cameras, k: looked.append(k) or (-2 if k == 50 else 0)
    )
    rows = sensors.stamps(quiet, None)
    assert [row["measured"] for row in rows.values()] == [1000.0, 0.001, 2.0]
    assert looked == [40, 50, 60] and {row["bar"] for row in rows.values()} == {"0"}


def test_modules_are_flown_to_their_end_before_they_are_judged(monkeypatch):
    done = []
    simulation = SimpleNamespace(fly=lambda: done.append("flown"))
    monkeypatch.setattr(
        flight_bars, "Simulation",
        SimpleNamespace(of=lambda name, settings: done.append((name, settings)) or nullcontext(simulation)),
    )  # fmt: skip
    monkeypatch.setattr(flight_bars, "_monitor", lambda each: done.append(each) or "monitor")
    assert flight_bars._fly("module_hover", {"a": 1}) == "monitor"
    assert done == [("module_hover", {"a": 1}), "flown", simulation]


@pytest.mark.parametrize("platform", ["f450", "three_star"])
def test_a_flight_by_firmware_has_its_errors_of_each_period_and_its_own_digest(
    platform, monkeypatch
):
    asked = []

    class Flown:
        def __init__(self):
            self.t, self.state = 0.0, np.zeros(3)
            row = np.zeros(19)
            row[P], row[Q] = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
            reference = SimpleNamespace(row=row)
            vehicle = SimpleNamespace(reference=lambda k: reference)
            self.loop = SimpleNamespace(vehicles=[vehicle], k=0)

        @property
        def is_done(self):
            return self.t >= 4.0

        def step(self):
            self.t += 1.0
            x = np.zeros(13)
            x[P] = (1.0, 0.3 * self.t, 0.4 * self.t)
            x[Q] = so3.quaternion_exp(np.array([0.1 * self.t, 0.0, 0.0]))
            self.state = self.state + 1.0
            return x[None]

    def of(scenario, *, settings, **options):
        asked.append((scenario, settings, options))
        return nullcontext(Flown())

    monkeypatch.setattr(firmware, "Simulation", SimpleNamespace(of=of))
    clock = iter((10.0, 10.5, 20.0, 21.0))
    monkeypatch.setattr(firmware, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    case = firmware.FirmwareCase("c", platform, "hover", 4.0, 1.0, None)
    first, second = (firmware.fly(case, 7, {"name": "betaflight"}) for _ in range(2))
    assert first.errors[:, 0] == pytest.approx([1.0, 1.5, 2.0])
    assert first.errors[:, 1] == pytest.approx(np.degrees([0.2, 0.3, 0.4]))
    assert (first.speed, second.speed) == (6.0, 3.0) and first.digest == second.digest
    scenario, settings, options = asked[0]
    assert scenario == "hover" and options == {"platform": platform, "seed": 7, "duration": 4.0}
    assert settings == {
        "firmware": {"name": "betaflight"}, **({"engine.name": "closed_form"} if platform == "f450" else {}),
    }  # fmt: skip
