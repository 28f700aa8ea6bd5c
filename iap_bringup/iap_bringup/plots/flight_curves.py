# SPDX-License-Identifier: BSD-3-Clause
"""The curves of a run's plots, in the units they are drawn in."""

from dataclasses import dataclass, replace

import numpy as np

from iap_bringup.plots.contact_curves import ContactCurves
from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.states import Q
from iap_estimation.evaluation import trajectory_errors
from iap_io.runs.columns import ArmColumns
from iap_io.runs.run_folder import VehicleRun
from iap_io.runs.run_meta import COMPLETED, RunMeta, Track
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.metrics.errors import against, finite, pose_errors, thrusts, tracked

GAP = "   \N{MIDDLE DOT}   "


@dataclass(frozen=True)
class PoseCurves:
    """A trajectory as it is drawn.

    Attributes:
        t: (K,) [s].
        position: (K, 3) [m].
        angles: (K, 3) roll, pitch, yaw [deg], without jumps.
    """

    t: Array
    position: Array
    angles: Array

    @classmethod
    def of(cls, t: Array, poses: Array) -> "PoseCurves":
        """From poses (K, 7)."""
        R = so3.matrix_from_quaternion(so3.normalized(poses[:, 3:]))
        angles = np.rad2deg(np.unwrap(so3.euler_from_matrix(R), axis=0))
        return cls(t, poses[:, :3], angles)


@dataclass(frozen=True)
class ErrorCurves:
    """A trajectory less another.

    Attributes:
        t: (K,) [s].
        position: (K, 3) [m].
        attitude: (K, 3) rotation vector [deg]; NaN where the angle is not controlled.
        inside: (K,) which of them lie in the scored window.
    """

    t: Array
    position: Array
    attitude: Array
    inside: Booleans

    def rmse(self) -> tuple[Array, Array]:
        """Per axis within the window, of position [m] and attitude [deg]; NaN without any."""
        if not self.inside.any():
            return np.full(3, np.nan), np.full(3, np.nan)
        return (
            trajectory_errors.rmse(self.position[self.inside]),
            trajectory_errors.rmse(self.attitude[self.inside]),
        )


@dataclass(frozen=True)
class FlightCurves:
    """All curves of one vehicle.

    Attributes:
        meta: the vehicle.
        title: scenario, platform and gains, and how the flight ended if not as planned.
        t: (K,) [s].
        window: the scored window [s].
        simulated: the flight.
        reference: the command as given.
        real: what the real aircraft did, in a replay that knows it.
        error: simulated less reference.
        real_error: real less reference.
        difference: simulated less real.
        thrust: (K, N) of each aircraft [N].
        tilt: (K, N) of each aircraft against the vertical [deg].
        frames: (K, 1 + N, 3) positions of the centre and the aircraft [m].
        contact: contact with the world; None for a vehicle without a wrench sensor.
        arm: joints of its arm; None without one.
        is_followed: whether anybody follows the reference.
    """

    meta: VehicleMeta
    title: str
    t: Array
    window: tuple[float, float]
    simulated: PoseCurves
    reference: PoseCurves
    real: PoseCurves | None
    error: ErrorCurves
    real_error: ErrorCurves | None
    difference: ErrorCurves | None
    thrust: Array
    tilt: Array
    frames: Array
    contact: ContactCurves | None
    arm: ArmColumns | None
    is_followed: bool = True

    @property
    def speed(self) -> Array:
        """(K,) of the vehicle [m/s]."""
        if len(self.t) < 2:
            return np.zeros(len(self.t))
        v: Array = np.gradient(self.simulated.position, self.t, axis=0)
        return np.linalg.norm(v, axis=1)


def flight_curves(run: RunMeta, vehicle: VehicleRun, outcome: str = COMPLETED) -> FlightCurves:
    """The curves of one vehicle of a run."""
    vehicle = replace(vehicle, columns=finite(vehicle.columns))
    meta, c = vehicle.meta, vehicle.columns
    t, reference, poses = tracked(vehicle)
    command = vehicle.commanded or Track(c.t, c.reference[:, :7])
    real = real_error = difference = None
    if vehicle.actual is not None:
        t_real, real_poses, there = against(vehicle, vehicle.actual)
        real = PoseCurves.of(t_real, real_poses)
        commanded = trajectory_errors.poses_at(t_real, command.t, command.poses)
        real_error = _errors(meta, t_real, commanded, real_poses)
        difference = _errors(meta, t_real, real_poses, there)
    several = f"{meta.name}: " if len(run.vehicles) > 1 else ""
    rows = [0, *meta.aircraft] if meta.aircraft != (0,) else [0]
    title = [run.scenario, several + meta.platform, f"gains {meta.gains}"]
    simulated = PoseCurves.of(c.t, c.x[:, 0, :7])
    return FlightCurves(
        meta=meta,
        title=GAP.join(title if outcome == COMPLETED else [*title, outcome]),
        t=c.t,
        window=meta.window_s,
        simulated=simulated,
        reference=_turned(PoseCurves.of(command.t, command.poses), simulated),
        real=real and _turned(real, simulated),
        error=_errors(meta, t, reference, poses),
        real_error=real_error,
        difference=difference,
        thrust=thrusts(meta, c),
        tilt=_tilt(c.x[:, meta.aircraft, Q]),
        frames=c.x[:, rows, :3],
        contact=None
        if c.wrench_record is None or not len(c.t)
        else ContactCurves.of(vehicle, c.wrench_record, run),
        arm=c.arm,
    )


def _errors(vehicle: VehicleMeta, t: Array, reference: Array, poses: Array) -> ErrorCurves:
    position, attitude, _ = pose_errors(reference, poses, vehicle)
    inside = (t >= vehicle.window_s[0] - 1e-9) & (t <= vehicle.window_s[1] + 1e-9)
    return ErrorCurves(t, position, np.rad2deg(attitude), inside)


def _turned(poses: PoseCurves, other: PoseCurves) -> PoseCurves:
    """The same angles, moved by whole turns to where another trajectory's are."""
    if not len(poses.t) or not len(other.t):
        return poses
    turns = np.round((np.median(other.angles, axis=0) - np.median(poses.angles, axis=0)) / 360.0)
    return PoseCurves(poses.t, poses.position, poses.angles + 360.0 * turns)


def _tilt(q_WB: Array) -> Array:
    """Angle (...) [deg] between the body z axes of attitudes (..., 4) and the vertical."""
    across = np.hypot(q_WB[..., 0], q_WB[..., 1])  # sine of half the tilt
    return 2.0 * np.rad2deg(np.arcsin(np.minimum(across, 1.0)))
