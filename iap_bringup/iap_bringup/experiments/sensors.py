# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of sensors: noise against its model, dead reckoning, attitude, stamps."""

import numpy as np

from iap_bringup.experiments.rows import Report, Rows, bar_row
from iap_description.arrays import Array
from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import imu_mounts
from iap_description.states import P, Q, V
from iap_description.vehicles.assembly import Assembly
from iap_estimation.evaluation.allan import densities
from iap_estimation.evaluation.dead_reckoning import reckon, reckon_instants
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.inertial.imu import PRESETS as UNITS
from iap_sensors.inertial.imu import Imu, ImuSpec
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.inertial_units import Unit
from iap_sensors.mounted.rig_state import RigState
from iap_simulation.runs.unrecorded_flight import UnrecordedFlight, watch
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

HOURS = 3.0  # of the still log
SPAN = 10.0  # of dead reckoning [s]
STARTS = 3.0, 4.5, 6.0  # of its windows [s]
UNIT = "/iap/drone_1/imu"  # with its body's row
DRONE = 1
SEEDS = range(1, 11)
NO_OBJECTS = np.zeros((0, 13))


def noise(report: Report, hours: float = HOURS) -> Rows:
    """Densities from the Allan deviation of a still log, relative to the model's."""
    report(f"inertial units: {hours:.0f} h at rest")
    spec = validate(ImuSpec, UNITS.tree("paper"), source="paper")
    still = np.zeros((round(hours * 3600.0 * spec.rate), 3))
    samples = Imu(spec, spec.rate, stream(1, "allan"))(still, still)
    rows: Rows = {}
    for name, values, triad in (
        ("gyro", samples.w_S, spec.gyro),
        ("accelerometer", samples.f_S, spec.accel),
    ):
        measured_densities = densities(values, 1.0 / spec.rate)
        for what, value, true in (
            ("noise", measured_densities.noise, triad.noise),
            ("bias walk", measured_densities.walk, triad.walk),
        ):
            off = float(np.abs(np.mean(value) / true - 1.0))
            rows[f"{name} {what}, off its density, %"] = bar_row(100.0 * off, "<= 10")
    return rows


def dead_reckoning(report: Report) -> Rows:
    """Dead reckoning of perfect samples of the figure-eight over 10 s, at worst of all windows."""
    rows: Rows = {}
    for sampling, bars in (("integrating", (2.0, 0.001)), ("instantaneous", (50.0, 0.01))):
        report(f"dead reckoning: {sampling}")
        assignments = (
            "sensors.imu=perfect",
            f"sensors.imu.sampling={sampling}",
            "sensors.attitude=null",
        )
        options = Options(sensors="imu", duration=STARTS[-1] + SPAN + 1.0, assignments=assignments)
        log = watch("figure_eight", options)
        errors = np.array([_reckoned(log, sampling, start) for start in STARTS]).max(axis=0)
        rows[f"{sampling}: position, mm"] = bar_row(1e3 * errors[0], f"<= {bars[0]:g}")
        rows[f"{sampling}: attitude, deg"] = bar_row(np.rad2deg(errors[1]), f"<= {bars[1]:g}")
    return rows


def _reckoned(log: UnrecordedFlight, sampling: str, start: float) -> tuple[float, float]:
    """Errors of position [m] and attitude [rad] after dead reckoning from a time [s] on."""
    samples = log.inertial(UNIT)
    stamps = np.array([each.t for each in samples])
    k, dt = int(np.searchsorted(log.t, start)), float(log.t[1])
    steps = round(SPAN / dt)
    is_mean = sampling == "integrating"
    first = int(np.argmin(np.abs(stamps - (log.t[k] + is_mean * dt))))
    window = samples[first : first + steps + (not is_mean)]
    w, f = (np.array([getattr(each, name) for each in window]) for name in ("w_WS_S", "f_S"))
    row, last = log.x[k, DRONE], log.x[k + steps, DRONE]
    adding_up = reckon if is_mean else reckon_instants
    gravity = log.scenario.world.gravity
    p, q, _ = adding_up(
        (row[None, P], row[None, Q], row[None, V]), w[:, None], f[:, None], dt=dt, gravity=gravity
    )
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(last[Q]), q[0]))
    return float(np.linalg.norm(p[0] - last[P])), float(np.linalg.norm(turn))


def attitude(
    report: Report, seeds: range = SEEDS, long: float = 96.0, short: float = 30.0
) -> Rows:
    """RMSE of roll and pitch as the paper's unit on an aircraft estimates them in the figure-eight, mean over seeds."""
    report("attitude: one flight, noise of every seed")
    assignments = ("sensors.imu=perfect", "sensors.attitude=null", "sensors.magnetometer=null")
    log = watch("figure_eight", Options(sensors="imu", duration=long, assignments=assignments))
    errors = [_tilt_errors(log, seed) for seed in seeds]
    rows: Rows = {}
    for span, bar in ((short, 1.0), (long, 1.5)):
        until = round(span * log.scenario.rates.control_hz)
        rmse = np.sqrt(np.mean([each[:until] ** 2 for each in errors], axis=1)).mean(axis=0)
        for name, value in zip(("roll", "pitch"), np.rad2deg(rmse), strict=True):
            rows[f"{name} over {span:.0f} s, deg"] = bar_row(value, f"<= {bar:g}")
    return rows


def _tilt_errors(log: UnrecordedFlight, seed: int) -> Array:
    """Errors (T, 2) of roll and pitch [rad] of one aircraft's estimate, with the noise of a seed."""
    scenario, _ = resolve("figure_eight", Options(sensors="imu", seed=seed))
    mount = imu_mounts(Assembly.of(scenario.vehicles[0].platform))[DRONE]
    sensors = scenario.vehicles[0].sensors
    assert sensors.magnetometer is not None  # noqa: S101 - the set has one
    every = round(scenario.rates.control_hz / sensors.magnetometer.rate)
    true = log.x[1:, DRONE, Q]
    unit = Unit(mount, sensors, scenario.rates.control_hz, seed)
    unit.reset(seed, log.x[0, DRONE, Q])
    estimates = np.empty_like(true)
    for k, sample in enumerate(log.inertial(UNIT)[: len(true)]):
        (measured,) = unit.measure(np.array([sample.t]), sample.w_WS_S[None], sample.f_S[None])
        estimates[k] = measured.q_WS
        if (k + 1) % every == 0:
            unit.measure_field(sample.t, true[k])
    angles = [
        so3.euler_from_matrix(so3.matrix_from_quaternion(q))[:, :2] for q in (estimates, true)
    ]
    return np.asarray(angles[0] - angles[1])


def stamps(report: Report, renderer: Renderer) -> Rows:
    """Errors of stamps, and the state at which an image is found again."""
    report("stamps")
    options = Options(sensors="stereo", scene="textured_walls", duration=4.0)
    log = watch("figure_eight", options, renderer)
    spacing = np.diff([round(each.t * 1e9) for each in log.inertial(UNIT)])
    images = log.images("/iap/drone_1/left")
    off = max(float(np.abs(log.t - each.t).min()) for each in images)
    rig = rig_spec(log.scenario)
    cameras = MountedCameras(rig, mounted_cameras_of(rig), renderer)
    offsets = [_steps_off(log, cameras, k) for k in range(40, len(images), 10)]
    return {
        "inertial samples, largest deviation from 5 ms, ns": bar_row(
            float(np.abs(spacing - 5_000_000).max()), "0"
        ),
        "images, stamp off a state's, s": bar_row(off, "0"),
        "images, control steps between stamp and what is seen": bar_row(
            float(np.abs(offsets).max()), "0"
        ),
    }


def _steps_off(log: UnrecordedFlight, cameras: MountedCameras, number: int) -> int:
    """Control steps from an image's stamp to the state that gives the same image."""
    image = log.images("/iap/drone_1/left")[number]
    k = int(np.searchsorted(log.t, image.t - 1e-6))
    near = range(k - 3, min(k + 4, len(log.t)))
    again = [
        cameras.shoot(cameras.cameras[:1], image.t, RigState(log.x[i], NO_OBJECTS))[
            0
        ].pixels.astype(int)
        for i in near
    ]
    difference = [float(np.abs(each - image.pixels).mean()) for each in again]
    return near[int(np.argmin(difference))] - k
