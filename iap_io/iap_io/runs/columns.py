# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a run: arrays with one row per control tick, which the loop hands over for one vehicle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.signals import ArmRecord, ForceMode, ForceTask, Reference, Step, WrenchRecord
from iap_description.states import REF_FIXED, STATE_SIZE, Command, Level, Mode
from iap_description.vehicles.gripper import LOAD_SIZE
from iap_io.runs.topics import WRENCHES
from iap_io.runs.vehicle_meta import VehicleMeta

COMMAND_SIZE = 16  # numbers of an aircraft's command, as iap_msgs/AircraftCommand has them


def parts_of(aircraft: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Thrust, attitude, body rate, rotor speeds and tilts: views on commands (..., 16) of aircraft."""
    return (
        aircraft[..., 0],
        aircraft[..., 1:5],
        aircraft[..., 5:8],
        aircraft[..., 8:12],
        aircraft[..., 12:],
    )


def put_command(aircraft: Array, command: Command) -> None:
    """Write the aircraft's commands (..., 16) of a command."""
    _, *arrays = command.arrays
    for part, value in zip(parts_of(aircraft), arrays, strict=True):
        part[...] = value


class ColumnTable:
    """A dataclass of arrays (and of such) that have a row for every control tick; None is a part that is not there."""

    def rows(self, selection: slice | tuple[slice, int]) -> Self:
        """Some of the rows; of a table whose rows have two dimensions, those of one column."""
        return self._each(lambda a: a[selection], lambda part: part.rows(selection))

    def put_rows(self, first: int, rows: Self) -> None:
        """Set rows from `first` on to those of another table of the same parts."""
        for field in fields(self):  # type: ignore[arg-type] # heirs are dataclasses
            target, values = getattr(self, field.name), getattr(rows, field.name)
            if isinstance(target, ColumnTable):
                target.put_rows(first, values)
            elif target is not None:
                target[first : first + len(values)] = values

    def shaped(self, *lead: int) -> Self:
        """The same rows with `lead` dimensions in place of one."""
        return self._each(
            lambda a: a.reshape(*lead, *a.shape[1:]), lambda part: part.shaped(*lead)
        )

    def copy(self) -> Self:
        """The same in memory of its own."""
        return self._each(lambda a: a.copy(), lambda part: part.copy())

    def check_shapes(self, expected: Self) -> None:
        """Compare the rows with those of a table, which may be empty.

        Raises:
            ValueError: rows of a column have another shape.
        """
        for field in fields(self):  # type: ignore[arg-type] # heirs are dataclasses
            values, other = getattr(self, field.name), getattr(expected, field.name)
            if isinstance(values, ColumnTable):
                values.check_shapes(other)
            elif values is not None and values.shape[1:] != other.shape[1:]:
                raise ValueError(
                    f"{field.name} of shape {values.shape[1:]}, not {other.shape[1:]}"
                )

    def _each(
        self, of_array: Callable[[Any], Any], of_part: Callable[["ColumnTable"], Any]
    ) -> Self:
        changed = {}
        for field in fields(self):  # type: ignore[arg-type] # heirs are dataclasses
            value = getattr(self, field.name)
            if value is not None:
                value = of_part(value) if isinstance(value, ColumnTable) else of_array(value)
            changed[field.name] = value
        return type(self)(**changed)


SomeTable = TypeVar("SomeTable", bound=ColumnTable)


def joined(tables: Sequence[SomeTable]) -> SomeTable:
    """Rows of tables of one kind behind each other."""
    parts = {}
    for field in fields(tables[0]):  # type: ignore[arg-type] # heirs are dataclasses
        each = [getattr(table, field.name) for table in tables]
        join = joined if isinstance(each[0], ColumnTable) else np.concatenate
        parts[field.name] = None if each[0] is None else join(each)
    return type(tables[0])(**parts)


@dataclass
class WrenchColumns(ColumnTable):
    """Wrenches on a vehicle, one row per control tick: those of the environment on the platform, in P.

    Attributes:
        wrenches: (K, 4, 6) raw, filtered, estimated and desired.
        tracked: (K, 19 + N) the reference as the admittance revised it.
        mode: (K,) `iap_description.signals.ForceMode`.
        axes: (K, 6) 1 where the wrench is controlled.
        measured: (K, 6) the wrench that was acted upon.
        integrals: (K, 2, 6) shares of the integrals of pose and wrench errors in the active wrench.
    """

    wrenches: Array
    tracked: Array
    mode: NDArray[np.uint8]
    axes: NDArray[np.uint8]
    measured: Array
    integrals: Array

    @classmethod
    def zeros(cls, rows: int, count: int) -> "WrenchColumns":
        """Empty columns for `rows` ticks of `count` aircraft."""
        return cls(
            wrenches=np.zeros((rows, len(WRENCHES), 6)),
            tracked=np.zeros((rows, REF_FIXED + count)),
            mode=np.zeros(rows, np.uint8),
            axes=np.zeros((rows, 6), np.uint8),
            measured=np.zeros((rows, 6)),
            integrals=np.zeros((rows, 2, 6)),
        )

    def put(self, i: int, record: WrenchRecord) -> None:
        """Set row i."""
        wrenches, task = self.wrenches[i], record.task
        wrenches[0], wrenches[1], wrenches[2] = record.raw_P, record.filtered_P, record.estimated_P
        self.tracked[i] = record.tracked.row
        if task is not None:
            wrenches[3], self.measured[i] = task.desired_P, task.measured_P
            self.mode[i], self.axes[i] = task.mode, task.axes
            self.integrals[i, 0], self.integrals[i, 1] = (
                task.pose_integral_P,
                task.wrench_integral_P,
            )

    def record(self, i: int, level: Level) -> WrenchRecord:
        """Row i as it was put, with the reference's level."""
        raw, filtered, estimated, desired = self.wrenches[i]
        axes = self.axes[i].astype(np.bool_)
        task = ForceTask(
            ForceMode(self.mode[i]), self.measured[i], desired, axes, *self.integrals[i]
        )
        return WrenchRecord(raw, filtered, estimated, Reference(self.tracked[i], level), task)


@dataclass
class ArmColumns(ColumnTable):
    """Joints of an arm, one row per control tick, see `iap_description.signals.ArmRecord`.

    Attributes:
        q: (K, n) coordinates [rad], [m].
        v: (K, n) velocities.
        efforts: (K, n) of the motors [N m], [N].
        target: (K, 3, n) coordinates, velocities and torques that the motors are told.
        load: (K, 10) what its gripper says it holds, see `iap_description.vehicles.gripper.row_of`.
    """

    q: Array
    v: Array
    efforts: Array
    target: Array
    load: Array

    @classmethod
    def zeros(cls, rows: int, joints: int) -> "ArmColumns":
        """Empty columns for `rows` ticks of so many joints."""
        q, v, efforts = np.zeros((3, rows, joints))
        return cls(q, v, efforts, np.zeros((rows, 3, joints)), np.zeros((rows, LOAD_SIZE)))

    def put(self, i: int, record: ArmRecord) -> None:
        """Set row i."""
        self.q[i], self.v[i], self.efforts[i], self.target[i], self.load[i] = record

    def record(self, i: int) -> ArmRecord:
        """Row i as it was put."""
        return ArmRecord(self.q[i], self.v[i], self.efforts[i], self.target[i], self.load[i])


@dataclass
class Columns(ColumnTable):
    """One vehicle's rows, one per control tick; N aircraft.

    Attributes:
        k: (K,) tick number.
        t: (K,) simulation time [s].
        x: (K, bodies, 13) states, see `iap_description.states`.
        reference: (K, 19 + N) reference rows.
        level: (K,) what of the reference is tracked.
        reference_wrench_P: (K, 6) the reference's wrench.
        mode: (K,) the command's mode, `iap_description.states.Mode`.
        wrench_P: (K, 6) commanded wrench.
        aircraft: (K, N, 16) commanded thrust [N], q_WB, w_WB_B [rad/s], rotor speeds [rpm] and tilts [rad].
        rpm: (K, N, 4) real rotor speeds.
        tilt: (K, N, 4) real angles of the rotors about their arms [rad].
        wrench_record: None for a vehicle that measures no wrench.
        estimated: (K, bodies, 13) states that commands are based on, NaN where they are not recorded; None for a
            vehicle that goes by the truth.
        arm: joints of its arm; None without one.
    """

    k: NDArray[np.uint64]
    t: Array
    x: Array
    reference: Array
    level: NDArray[np.uint8]
    reference_wrench_P: Array
    mode: NDArray[np.uint8]
    wrench_P: Array
    aircraft: Array
    rpm: Array
    tilt: Array
    wrench_record: WrenchColumns | None
    estimated: Array | None = None
    arm: ArmColumns | None = None

    @classmethod
    def zeros(cls, rows: int, vehicle: VehicleMeta) -> "Columns":
        """Empty columns for `rows` ticks."""
        bodies, count = len(vehicle.bodies), vehicle.count
        return cls(
            k=np.zeros(rows, np.uint64),
            t=np.zeros(rows),
            x=np.zeros((rows, bodies, STATE_SIZE)),
            reference=np.zeros((rows, REF_FIXED + count)),
            level=np.zeros(rows, np.uint8),
            reference_wrench_P=np.zeros((rows, 6)),
            mode=np.zeros(rows, np.uint8),
            wrench_P=np.zeros((rows, 6)),
            aircraft=np.zeros((rows, count, COMMAND_SIZE)),
            rpm=np.zeros((rows, count, 4)),
            tilt=np.zeros((rows, count, 4)),
            wrench_record=WrenchColumns.zeros(rows, count) if vehicle.feels else None,
            estimated=np.full((rows, bodies, STATE_SIZE), np.nan)
            if vehicle.is_estimated
            else None,
            arm=ArmColumns.zeros(rows, len(vehicle.arm_joints)) if vehicle.arm_joints else None,
        )

    def put(self, i: int, step: Step) -> None:
        """Set row i."""
        reference, command = step.reference, step.command
        self.k[i], self.t[i], self.x[i], self.rpm[i] = step.k, step.t, step.x, step.rpm
        self.reference[i], self.level[i] = reference.row, reference.level
        self.reference_wrench_P[i] = reference.wrench_P
        self.mode[i], self.wrench_P[i] = command.mode, command.wrench_P
        self.tilt[i] = 0.0 if step.tilt is None else step.tilt
        put_command(self.aircraft[i], command)
        if self.wrench_record is not None and step.wrench_record is not None:
            self.wrench_record.put(i, step.wrench_record)
        if self.estimated is not None:
            self.estimated[i] = np.nan if step.estimated is None else step.estimated
        if self.arm is not None and step.arm is not None:
            self.arm.put(i, step.arm)

    def step(self, i: int) -> Step:
        """Row i as the step that it was put from."""
        level, aircraft = Level(self.level[i]), self.aircraft[i]
        return Step(
            int(self.k[i]),
            float(self.t[i]),
            self.x[i],
            Reference(self.reference[i], level, self.reference_wrench_P[i]),
            Command(Mode(self.mode[i]), self.wrench_P[i], *parts_of(aircraft)),
            self.rpm[i],
            None if self.wrench_record is None else self.wrench_record.record(i, level),
            None if self.estimated is None else self.estimated[i],
            self.tilt[i],
            None if self.arm is None else self.arm.record(i),
        )
