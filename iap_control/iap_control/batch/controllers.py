# SPDX-License-Identifier: BSD-3-Clause
"""The suite's controllers of a platform in many worlds: world i has the bits of a `PlatformController` alone."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from iap_control.allocator import AllocationTables, filter_share
from iap_control.batch.loops import (
    Given,
    Kept,
    Settings,
    control_collinear,
    control_full,
    control_rigid,
)
from iap_control.controller import disturbance_settings
from iap_control.disturbance_observer import Observed
from iap_control.gains import Gains
from iap_control.headings import YAW_MODES, YawMode
from iap_control.laws.motion_law import MotionLaw
from iap_control.laws.position_yaw import RigidLaw, rigid_law
from iap_control.laws.tracking import Law
from iap_control.laws.under_actuation import Decomposition
from iap_control.model import Actuation, Inertia, PlatformModel
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.kernels import stacked
from iap_description.states import Command, Mode

Loop = Callable[[int, int, Given, Settings, Kept], None]
_LOOPS: dict[Actuation, Loop] = {
    "full": control_full,
    "collinear": control_collinear,
    "rigid": control_rigid,
}


class _NoSplit(NamedTuple):
    """In place of a decomposition, where there is none."""

    unused: float = 0.0


class Controllers:
    """Turn states and references of many worlds into commands, in free flight.

    Args:
        model: of the platform, the same in all worlds.
        gains: of all worlds, or of each.
        batch: number of worlds B.
        dt: control period [s].
        yaw_mode: the aircraft's headings follow the platform's, are held, or are given by the reference.

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
        self._model, self._batch, self._dt = model, batch, dt
        self._yaw_mode, self._control = YAW_MODES[yaw_mode], _LOOPS[model.actuation]
        self._tables = AllocationTables.of(model)
        self.set_gains(gains)
        errors = 5 if model.actuation == "collinear" else 6
        self._kept = Kept.empty(batch, model.count, errors)
        kept, rigid = self._kept, model.actuation == "rigid"
        mode = Mode.RPM if rigid else Mode.ATTITUDE_THRUST
        self.command = Command(mode, kept.wrench_P, kept.thrust, kept.q_WB, kept.w_WB_B, kept.rpm)

    def set_gains(self, gains: Gains | Sequence[Gains]) -> None:
        """Change the gains of all worlds, or of each, also in flight; integrals and disturbances stay.

        Raises:
            BadInput: there are more or fewer than worlds.
        """
        each = [gains] * self._batch if isinstance(gains, Gains) else list(gains)
        if len(each) != self._batch:
            raise BadInput(f"gains: {self._batch} are expected, one a world, got {len(each)}")
        made = {id(one): _records(self._model, one, self._dt) for one in each}
        columns = list(zip(*(made[id(one)] for one in each), strict=True))
        laws, inertias, splits, observed = (stacked(column) for column in columns[:4])
        self._settings = Settings(
            laws,
            inertias,
            splits,
            observed,
            np.array(columns[4]),
            np.array(columns[5]),
            self._tables,
            self._model.mount_yaw,
            self._yaw_mode,
            self._dt,
        )

    def reset(self, worlds: Integers | None = None) -> None:
        """Forget integrals, disturbances and past commands of worlds, by their indices; None for all."""
        for array in self._memory:
            array[... if worlds is None else worlds] = 0

    def __call__(self, given: Given, worlds: range | None = None) -> Command:
        """Make the commands of one control step; the same object every time, overwritten.

        Args:
            given: states and references.
            worlds: which are commanded, so that threads can share the work; None for all.
        """
        chosen = range(self._batch) if worlds is None else worlds
        self._control(chosen.start, chosen.stop, given, self._settings, self._kept)
        return self.command

    @property
    def parts(self) -> tuple[Actuation, Settings, Kept]:
        """Which loop commands, and what it takes, for compiled loops around it."""
        return self._model.actuation, self._settings, self._kept

    def snapshot(self) -> list[Array | Booleans]:
        """What the controllers remember: copies."""
        return [array.copy() for array in self._memory]

    def restore(self, snapshot: Sequence[Array | Booleans]) -> None:
        """Return to a snapshot of the same number of worlds."""
        for own, other in zip(self._memory, snapshot, strict=True):
            own[...] = other

    @property
    def _memory(self) -> list[Array | Booleans]:
        memory: list[Array | Booleans] = []
        for part in self._kept:
            memory += part if isinstance(part, tuple) else (part,)
        return memory


def _records(
    model: PlatformModel, gains: Gains, dt: float
) -> tuple[Law, Inertia, Decomposition | RigidLaw | _NoSplit, Observed, bool, float]:
    """Of one world: law, inertia, what its joints need besides, observer, whether it observes, filter's share."""
    coupled = model.coupled(gains.com_coupling)
    inertia, settings = disturbance_settings(coupled, gains)
    observed = Observed.of(inertia, settings, dt)
    is_observed = any(settings.bandwidth)
    share = filter_share(gains.rate_filter, dt)
    if model.actuation == "rigid":
        law, rigid = rigid_law(gains), RigidLaw.of(gains, coupled)
        return law, coupled.inertia, rigid, observed, is_observed, share
    motion = MotionLaw.of(coupled, Law.of(gains))
    return motion.law, motion.inertia, motion.split or _NoSplit(), observed, is_observed, share
