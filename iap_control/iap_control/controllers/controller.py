# SPDX-License-Identifier: BSD-3-Clause
"""Controllers of platforms: their protocol, the suite's own, and the choice of one by its name."""

from typing import Protocol

import numpy as np

from iap_control.actuation.kinds import check_names, laws
from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import Inertia, PlatformLaw, PlatformModel
from iap_control.arm.arm_model import MovingArm
from iap_control.controllers.disturbance_observer import DisturbanceObserver
from iap_control.gains import DisturbanceGains, Gains
from iap_control.headings import Headings, YawMode
from iap_control.interaction.wrench_control import WrenchControl
from iap_description.arrays import Array
from iap_description.config.plugins import load_class
from iap_description.errors import BadInput
from iap_description.signals import NO_WRENCH, ForceTask, Reference
from iap_description.states import Command, Level, Q

AUTO = "auto"  # the law that the platform's joints allow
ATTITUDE = "attitude"  # attitude and thrust of one multirotor, for its own autopilot
VELOCITY = "velocity"  # the reference's twist as a command, for plants that take velocities


class Controller(Protocol):
    """A platform's controller, as flights and controller_node call it once per control period.

    A user's own is a class that is made with ``(model, gains, dt=..., yaw_mode=...)``, arguments as of
    `PlatformController`, and that is named as ``module:Class``.
    """

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_P: Array = NO_WRENCH,
        task: ForceTask | None = None,
    ) -> Command:
        """The command for one control step.

        Args:
            x: (13,) state row of the central body, see `iap_description.states`.
            reference: the present reference.
            wrench_P: (6,) measured or estimated wrench of the environment about P's origin, in P [N, N m].
            task: the wrench that the environment shall exert; None is pose control.
        """

    def reset(self) -> None:
        """Forget integrals and past commands: a flight begins."""

    def set_gains(self, gains: Gains) -> None:
        """Change the gains, also in flight."""


def make_controller(
    law: str,
    model: PlatformModel,
    gains: Gains,
    *,
    dt: float,
    yaw_mode: YawMode,
    key: str = "control.law",
) -> Controller:
    """The controller that a law's name stands for.

    Args:
        law: ``auto``, the name of a law, or ``module:Class`` of a user's own, which is made as `PlatformController`.
        model: of the platform.
        gains: motion gains.
        dt: control period [s].
        yaw_mode: of the aircraft's headings.
        key: that gives the law, for errors.

    Raises:
        BadInput: there is no such law, it does not fit the platform, or the class is no `Controller`.
    """
    actuation, known = model.actuation, laws()
    kinds = known.get(law, (actuation.name,))
    if actuation.name not in kinds:
        raise BadInput(
            f"key '{key}': '{law}' flies platforms of actuation {' or '.join(kinds)}, this one's is"
            f" {actuation.name} (choices: {AUTO}, {actuation.law}, or module:Class)"
        )
    built_in = dict.fromkeys([AUTO, *known], f"{__name__}:{PlatformController.__name__}")
    built_in[ATTITUDE] = "iap_control.controllers.attitude:AttitudeController"
    built_in[VELOCITY] = "iap_control.controllers.velocity:VelocityController"
    methods = ("__call__", "reset", "set_gains")
    made = load_class(law, methods, key=key, built_in=built_in)
    try:
        controller: Controller = made(model, gains, dt=dt, yaw_mode=yaw_mode)
    except TypeError as error:
        raise BadInput(f"key '{key}': class '{law}' cannot be made: {error}") from error
    return controller


def disturbance_settings(model: PlatformModel, gains: Gains) -> tuple[Inertia, DisturbanceGains]:
    """Settings of a platform's disturbance observer, which is off where the gains do not name its actuation.

    Raises:
        BadInput: the gains name a kind that does not exist.
    """
    settings = gains.disturbance
    check_names(settings.actuation, "disturbance.actuation")
    if model.actuation.name not in settings.actuation:
        settings = settings.model_copy(update={"bandwidth": (0.0, 0.0)})
    return model.inertia, settings


class PlatformController:
    """The suite's `Controller`: disturbance observer, the law that the platform's joints allow, allocation.

    Args:
        model: of the platform.
        gains: motion gains.
        dt: control period [s].
        yaw_mode: the aircraft's headings follow the platform's, are held, or are given by the reference.

    Attributes:
        model: as given, with or without the coupling through the CoM's offset as the gains say.
        gains: as set last.
        dt: control period [s].
        yaw_mode: of the headings.
        headings: of the aircraft.
        allocator: turns active wrenches into commands.
        disturbance: observer of the wrench that the model does not know of.
        feed_forward_P: (6,) wrench about P's origin in P that is added to the law's [N, N m].
    """

    def __init__(
        self, model: PlatformModel, gains: Gains, *, dt: float, yaw_mode: YawMode = "follow"
    ) -> None:
        self.gains, self.model = gains, model.coupled(gains.com_coupling)
        self.dt, self.yaw_mode = dt, yaw_mode
        self.headings = Headings(model.mount_yaw, yaw_mode)
        self.allocator = Allocator(model, rate_filter=gains.rate_filter, dt=dt)
        self.disturbance = DisturbanceObserver(*disturbance_settings(self.model, gains), dt)
        follows = yaw_mode == "follow"
        self._law = model.actuation.make_law(self.model, gains, dt, self.headings, follows=follows)
        self._last_wrench: Array | None = None
        self.feed_forward_P = self._arm_P = NO_WRENCH

    @property
    def is_fresh(self) -> bool:
        """True if it has commanded nothing since it was made or reset."""
        return self._last_wrench is None and self.feed_forward_P is NO_WRENCH

    @property
    def law(self) -> PlatformLaw:
        """The platform's law."""
        return self._law

    def set_gains(self, gains: Gains) -> None:
        """Change the gains, also in flight; the integrals and the estimated disturbance stay."""
        self.gains, self.model = gains, self.model.coupled(gains.com_coupling)
        self.allocator.set_rate_filter(gains.rate_filter)
        self.disturbance.set_gains(*disturbance_settings(self.model, gains))
        self._law.set_gains(self.model, gains)

    def set_model(self, model: PlatformModel) -> None:
        """Fly what a model of the same platform says is left of it; integrals and past commands stay."""
        self.model = model.coupled(self.gains.com_coupling)
        self.allocator.set_model(model)
        self._law.set_gains(self.model, self.gains)

    def follow_arm(self, moving: MovingArm) -> None:
        """Fly on with the arm as it is until the next call: CoM, inertia, what carries on its motion, and its tip."""
        self._law.set_inertia(moving.inertia)
        if self.model.tip_moves and isinstance(self._law, WrenchControl):
            self._law.set_tip(moving.tip_P)
        self.disturbance.set_inertia(moving.inertia, moving.momentum_P)
        self._arm_P = moving.wrench_P

    def reset(self) -> None:
        """Forget integrals, disturbance and past commands."""
        self._last_wrench = None
        self._arm_P = NO_WRENCH
        self.feed_forward_P = NO_WRENCH
        self.disturbance.reset()
        self.headings.reset()
        self.allocator.reset()
        self._law.reset()

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_P: Array = NO_WRENCH,
        task: ForceTask | None = None,
    ) -> Command:
        """The command for one control step, as in `Controller`; the same object every time, overwritten.

        Raises:
            BadInput: wrench control of a platform whose rotors are fixed to one body.
        """
        wrench_e_P = self.gains.compensation * wrench_P
        if self.disturbance.is_on:
            wrench_e_P += self.disturbance(x, wrench_P)
        if self.feed_forward_P is not NO_WRENCH:
            wrench_e_P = wrench_e_P - self.feed_forward_P
        if self._arm_P is not NO_WRENCH:
            wrench_e_P = wrench_e_P - self._arm_P
        U = self.wrench(x, reference, wrench_e_P, task)
        command = self.allocator(U, x[Q], self.headings(x, reference))
        if self.disturbance.is_on:
            self.disturbance.note(self.allocator.made_P)
        return command

    def wrench(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array | None = None,
        task: ForceTask | None = None,
    ) -> Array:
        """Active wrench U (6,) about P's origin, in P; `wrench_e_P` (6,) is compensated, also in P [N, N m]."""
        if wrench_e_P is None:  # laws are compiled once more for an array that cannot be written
            wrench_e_P = np.zeros(6)
        if reference.level == Level.WRENCH:
            U = reference.wrench_P.copy()
        else:
            U = self._law(x, reference, wrench_e_P, task, self._last_wrench, self.allocator)
        self._last_wrench = U
        return U
