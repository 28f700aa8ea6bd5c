# SPDX-License-Identifier: BSD-3-Clause
"""The suite's controllers of a platform in many worlds: world i has the bits of a `PlatformController` alone."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numba import njit

from iap_control.allocation.allocator import filter_share
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.thrust_directions import CROSSED, HINGED
from iap_control.allocation.vectored_allocation import vectored_tables
from iap_control.batch.batch_loop import control_worlds
from iap_control.batch.layout import (
    AIRCRAFT_MEMORY,
    AIRCRAFT_SIZE,
    PLATFORM,
    PLATFORM_MEMORY,
    ObserverNumbers,
    platform_rows,
    rows_of,
)
from iap_control.batch.records import (
    COLLINEAR,
    FULL,
    RIGID,
    VECTORED,
    BatchCommand,
    ControlSettings,
    Setpoints,
)
from iap_control.controllers.controller import PlatformController, disturbance_settings
from iap_control.controllers.disturbance_observer import ObserverParameters
from iap_control.gains import Gains
from iap_control.headings import YAW_MODES, YawMode
from iap_control.laws.decomposition import DecompositionNumbers
from iap_control.laws.motion_law import MotionLaw
from iap_control.laws.rigid_law import RigidLaw, RigidLawNumbers, rigid_law
from iap_control.laws.tracking import InertiaNumbers, Law, Pid
from iap_control.laws.under_actuation import Pid5
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.lanes import LANES, zero_blocks
from iap_description.math.rows import fill, numbers_of
from iap_description.signals import NO_WRENCH, ForceTask, Reference
from iap_description.states import Command, Mode

_LAWS: dict[str, int] = {
    "full": FULL,
    "collinear": COLLINEAR,
    "rigid": RIGID,
    "vectored": VECTORED,
}
Numbers = dict[str, Array | float]  # by the names of their rows


def are_known(model: PlatformModel) -> bool:
    """Tell if controllers of many worlds know a platform's kind of actuation, and its joints: spherical, fixed ones."""
    is_known = model.actuation.name in _LAWS
    return bool(is_known and not np.isin(model.swings, (HINGED, CROSSED)).any())


class Controllers:
    """Turn states, references and felt wrenches of many worlds into commands.

    Args:
        model: of the platform, the same in all worlds.
        gains: of all worlds, or of each.
        batch: number of worlds B.
        dt: control period [s].
        yaw_mode: the aircraft's headings follow the platform's, are held, or come from the reference.

    Attributes:
        command: the last one of every world, arrays (B, ...).
    """

    def __init__(
        self,
        model: PlatformModel,
        gains: Gains | Sequence[Gains],
        *,
        batch: int,
        dt: float,
        yaw_mode: YawMode = "follow",
    ) -> None:
        if not are_known(model):
            raise BadInput("controllers of many worlds know spherical and fixed joints only")
        self._model, self._batch, self._dt = model, batch, dt
        self._settings = ControlSettings(
            _LAWS[model.actuation.name],
            platform_rows(model.actuation.name),
            AllocationTables.of(model),
            vectored_tables(model),
            model.mount_yaw,
            YAW_MODES[yaw_mode],
            dt,
        )
        rows = rows_of(model.actuation.name, model.count)
        self._blocks = zero_blocks(batch, rows)
        self._commanded = BatchCommand.empty(batch, model.count)
        self.command = Command(model.actuation.mode, *self._commanded)
        self.set_gains(gains)

    @property
    def _of_worlds(self) -> Array:
        """(blocks, rows, LANES) a view of the blocks; one that is kept would be a copy of its own in a deep copy."""
        return self._blocks.reshape(len(self._blocks), -1, LANES)

    def set_gains(self, gains: Gains | Sequence[Gains]) -> None:
        """Change the gains of all worlds, or of each, also in flight; integrals and disturbances stay.

        Raises:
            BadInput: there are more or fewer than worlds.
        """
        if isinstance(gains, Gains):
            _write(self._of_worlds, _numbers(self._model, gains, self._dt))
            return
        each = list(gains)
        if len(each) != self._batch:
            raise BadInput(f"gains: {self._batch} are expected, one a world, got {len(each)}")
        made = {id(one): _numbers(self._model, one, self._dt) for one in each}
        for world, one in enumerate(each):
            block, lane = divmod(world, LANES)
            _write(self._of_worlds[block : block + 1, :, lane : lane + 1], made[id(one)])

    def reset(self, worlds: Integers | None = None) -> None:
        """Forget integrals, disturbances and past commands of worlds, by their indices; None for all."""
        indices = np.arange(self._batch) if worlds is None else worlds
        for rows in self._remembered:
            _forget(self._of_worlds, indices, rows.start, rows.stop)
        for array in self._commanded:
            array[indices] = 0.0

    @property
    def _remembered(self) -> list[slice]:
        """Rows of what controllers remember, commands among it."""
        rows = [PLATFORM_MEMORY]
        for n in range(self._model.count):
            first = self._settings.first + n * AIRCRAFT_SIZE
            rows.append(slice(first + AIRCRAFT_MEMORY.start, first + AIRCRAFT_MEMORY.stop))
        return rows

    def __call__(self, setpoints: Setpoints, worlds: range | None = None) -> Command:
        """Make the commands of one control step; the same object every time, overwritten.

        Args:
            setpoints: states and references.
            worlds: which are commanded, from the first of a block on, so that threads can share the work; None for all.
        """
        indices = range(self._batch) if worlds is None else worlds
        settings = (self._settings, self._blocks, self._commanded)
        control_worlds(indices.start, indices.stop, setpoints, *settings)
        return self.command

    def feel(self, wrenches_P: Array, worlds: Integers) -> None:
        """Let controllers of worlds, by their indices, know wrenches (B, 6) of the environment until the next ones.

        About P's origin in P [N, N m].
        """
        lanes = self._of_worlds
        rows = slice(PLATFORM.felt, PLATFORM.felt + 6)
        lanes[worlds // LANES, rows, worlds % LANES] = wrenches_P[worlds]

    @property
    def parts(self) -> tuple[ControlSettings, Array]:
        """Settings and blocks of all worlds for `control_block`; such a loop leaves `command` as it is."""
        return self._settings, self._blocks

    def snapshot(self) -> list[Array]:
        """Copies of the controllers' memory."""
        return [array.copy() for array in self._memory]

    def restore(self, snapshot: Sequence[Array], worlds: Integers | None = None) -> None:
        """Return to a snapshot of the same number of worlds, all of them or some by their indices; gains stay."""
        indices = np.arange(self._batch) if worlds is None else worlds
        count = len(self._remembered)
        for memory, other in zip(self._memory[:count], snapshot[:count], strict=True):
            at = (indices // LANES, slice(None), indices % LANES)
            memory[at] = other[at]
        for memory, other in zip(self._commanded, snapshot[count:], strict=True):
            memory[indices] = other[indices]

    @property
    def _memory(self) -> list[Array]:
        return [*(self._of_worlds[:, rows] for rows in self._remembered), *self._commanded]


class ControllerOfOne:
    """`Controllers` of one world, as a `controllers.controller.Controller` of free flight; arguments as there."""

    def __init__(
        self, model: PlatformModel, gains: Gains, *, dt: float, yaw_mode: YawMode = "follow"
    ) -> None:
        self.model = model
        self._controllers = Controllers(model, gains, batch=1, dt=dt, yaw_mode=yaw_mode)

    @classmethod
    def like(cls, controller: PlatformController) -> Self:
        """One that goes on for a controller that has not commanded yet.

        Raises:
            BadInput: of a platform on joints that are not known.
        """
        model, gains = controller.model, controller.gains
        return cls(model, gains, dt=controller.dt, yaw_mode=controller.yaw_mode)

    @property
    def parts(self) -> tuple[ControlSettings, Array]:
        """See `Controllers.parts`."""
        return self._controllers.parts

    @property
    def mode(self) -> Mode:
        """Mode of its commands."""
        return self._controllers.command.mode

    def reset(self) -> None:
        """Forget integrals and past commands."""
        self._controllers.reset()

    def set_gains(self, gains: Gains) -> None:
        """Change the gains, also in flight."""
        self._controllers.set_gains(gains)

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_P: Array = NO_WRENCH,
        task: ForceTask | None = None,
    ) -> Command:
        """The command for one control step, views that the next call overwrites.

        Raises:
            BadInput: a wrench is measured or wanted.
        """
        if task is not None or wrench_P is not NO_WRENCH:
            raise BadInput("controllers of batches know free flight only")
        levels = np.array([int(reference.level)], dtype=np.int64)
        wrenches_P = reference.wrench_P[None].copy()  # read-only arrays would be compiled for anew
        setpoints = Setpoints(x[None, None], reference.row[None], levels, wrenches_P)
        command = self._controllers(setpoints)
        return Command(command.mode, *(each[0] for each in command.arrays))


@njit(cache=True)
def _forget(lanes: Array, worlds: Integers, first: int, last: int) -> None:
    """Set rows first to last - 1 of blocks (blocks, rows, LANES) to zero in some worlds."""
    for world in worlds:
        lanes[world // LANES, first:last, world % LANES] = 0.0


def _write(lanes: Array, numbers: Numbers) -> None:
    """Write a platform's numbers into rows of blocks (blocks, rows, lanes), the same in all worlds."""
    rows = lanes.transpose(1, 0, 2)[None]
    fill(rows, PLATFORM, **{name: np.reshape(value, (1, -1)) for name, value in numbers.items()})


def _numbers(model: PlatformModel, gains: Gains, dt: float) -> Numbers:
    """Gains, platform and observer of one world, by their rows."""
    coupled = model.coupled(gains.com_coupling)
    inertia, settings = disturbance_settings(coupled, gains)
    observer: Numbers = {
        "observer": numbers_of(ObserverNumbers, ObserverParameters.of(inertia, settings, dt)),
        "is_observed": float(any(settings.bandwidth)),
        "rate_share": filter_share(gains.rate_filter, dt),
        "compensation": gains.compensation,
    }
    if _LAWS[model.actuation.name] == RIGID:
        law = numbers_of(RigidLawNumbers, RigidLaw.of(gains, coupled))
        pid, body = numbers_of(Pid, rigid_law(gains)), numbers_of(InertiaNumbers, coupled.inertia)
        return {**observer, "pid": pid, "body": body, "law": law}
    motion = MotionLaw.of(coupled, Law.of(gains), dt)
    body = numbers_of(InertiaNumbers, motion.inertia)
    if motion.split is None:
        return {**observer, "pid": numbers_of(Pid, motion.law), "body": body}
    law = numbers_of(DecompositionNumbers, motion.split._replace(basis=motion.split.basis.T))
    return {**observer, "pid": numbers_of(Pid5, motion.law), "body": body, "law": law}
