# SPDX-License-Identifier: BSD-3-Clause
"""Follows a flight with an arm: errors of platform and end effector, and commands that had to be clipped."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_P, REF_V, P, Q
from iap_description.vehicles.serial_chain import tip_pose
from iap_physics.arm.gripper import Gripper
from iap_physics.plant.plant import Plant
from iap_simulation.tasks.monitor import TaskMonitor
from iap_simulation.vehicles.vehicle import Vehicle


class ArmMonitor(TaskMonitor[Plant]):
    """Follows the first vehicle that has an arm; its flight ends with its references."""

    key, missed = "arm", "not_reached"

    def __init__(self, number: int, vehicle: Vehicle, window: tuple[float, float]) -> None:
        self._number, self._vehicle, self._window = number, vehicle, window
        self._gripper: dict[str, Any] = {}  # at the last instant
        self._base: list[Array] = []
        self._tip: list[Array] = []

    @classmethod
    def of(cls, vehicles: Sequence[Vehicle], window: tuple[float, float] | None) -> Self | None:
        """The monitor of a flight, where a vehicle has an arm.

        Args:
            vehicles: that fly.
            window: over which errors count [s]; None is the vehicle's own.
        """
        for i, vehicle in enumerate(vehicles):
            if vehicle.arm is not None:
                return cls(i, vehicle, window or vehicle.timeline.window)
        return None

    @property
    def failure(self) -> None:
        """None: the arm has no task in which it could fail."""
        return None

    @property
    def success(self) -> str:
        """Fate of the object of a gripper; empty without one."""
        if not self._gripper:
            return ""
        off = self._gripper["place_error_m"]
        if off is not None:
            return f"picked, and placed {1e3 * off:.1f} mm off its target"
        return "the object was lost" if self._gripper["lost"] else "no object was picked"

    def observe(self, plant: Plant) -> None:
        """Observe the present control instant."""
        self._gripper = _gripper_report(plant)
        if not self._window[0] <= plant.t <= self._window[1]:
            return
        x, control, motors = (
            plant.state(self._number)[0, 0],
            self._vehicle.arm,
            plant.arm(self._number),
        )
        assert control is not None and motors is not None  # noqa: S101 - see `of`
        dt = plant.substeps * plant.dt
        self._base.append(x[P] - self._desired_position(round(plant.t / dt), dt, control.led))
        desired = control.tip_reference(plant.t)
        if desired is not None:
            chain = motors.arm.chain
            tip, _ = tip_pose(chain, x[P], so3.matrix_from_quaternion(x[Q]), motors.q)
            self._tip.append(tip - desired)

    def _desired_position(self, k: int, dt: float, led: Array | None) -> Array:
        """(3,) where the platform should be at control instant k; a guide's reference is that of the instant before."""
        if led is None:
            return np.asarray(self._vehicle.reference(k).row[REF_P])
        return np.asarray(led[REF_P] + dt * (led[REF_V] + 0.5 * dt * led[REF_A]))

    def metrics(self, plant: Plant) -> dict[str, Any]:
        """Key `arm` of metrics.json."""
        motors = plant.arm(self._number)
        control = self._vehicle.arm
        assert control is not None and motors is not None  # noqa: S101 - see `of`
        names = [joint.name for joint in motors.arm.record.joints]
        counts = (motors.clipped + control.clipped).tolist()
        out: dict[str, Any] = {"clipped_commands": dict(zip(names, counts, strict=True))}
        for name, errors in (("tip", self._tip), ("base", self._base)):
            out[f"{name}_rmse_m"], out[f"{name}_max_m"] = sizes(errors)
        if self._tip:
            out["tip_rmse_xyz_m"] = np.sqrt(np.mean(np.square(self._tip), axis=0)).tolist()
        return out | self._gripper


def _gripper_report(plant: Plant) -> dict[str, Any]:
    """Hold of the gripper on the object that it picked, and the distance of that from its target [m]."""
    gripper = plant.part(Gripper)
    if gripper is None:
        return {}
    lost = bool(gripper.taken and gripper.lost)
    picked = gripper.taken and not gripper.lost
    off = float(np.linalg.norm(gripper.object_row[:3] - gripper.spec.target))
    return {"picked": picked, "lost": lost, "place_error_m": off if picked else None}


def sizes(errors: list[Array]) -> tuple[float | None, float | None]:
    """RMS and largest length of errors (3,); None of none."""
    if not errors:
        return None, None
    lengths = np.linalg.norm(errors, axis=1)
    return float(np.sqrt(np.mean(lengths**2))), float(lengths.max())
