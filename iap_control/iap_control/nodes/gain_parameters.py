# SPDX-License-Identifier: BSD-3-Clause
"""Gains as ROS parameters: those of a preset, single ones that a launch file sets, and changes in flight."""

from collections.abc import Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from iap_control.controllers.controller import Controller
from iap_control.gains import PRESETS as GAINS
from iap_control.gains import Gains
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode

SIX = "order x y z roll pitch yaw"
FLIGHT = {  # gains of a controller that may be changed in flight
    "kP": f"Position and attitude gains, {SIX} [N/m, N m/rad; 1/s^2 where per_inertia].",
    "kI": f"Gains of the errors' integrals, {SIX} [N/m/s, N m/rad/s; 1/s^3 where per_inertia].",
    "kD": f"Velocity gains, {SIX} [N s/m, N m s/rad; 1/s where per_inertia].",
    "integral_limit": f"Largest share of the integrals, {SIX} [N, N m; m/s^2, rad/s^2 where per_inertia].",
    "error_limit": "Errors of position [m] and attitude (sine of the angle) beyond which kP pulls no harder.",
    "compensation": "Share of the measured wrench, 0 to 1, which is fed forward.",
    "disturbance.bandwidth": "Of the disturbance observer, force and torque [rad/s]; 0 is off.",
    "disturbance.limit": "Its largest estimates per inertia [m/s^2], [rad/s^2].",
    "disturbance.contact": "A component of the measured wrench beyond which its estimate stays [N, N m].",
    "rigid.kP": "Attitude gains of a platform without joints [1/s^2].",
    "rigid.kD": "Rate gains of a platform without joints [1/s].",
    "wrench.paper.kwP": f"Wrench control in mode paper: active wrench per wrench error, {SIX}.",
    "wrench.paper.kwI": f"The same for the error's integral, {SIX} [1/s].",
    "wrench.paper.kwD": f"The same for the error's derivative, {SIX} [s].",
    "wrench.selective.kP": f"In mode selective: active wrench per wrench error, {SIX}.",
    "wrench.selective.kI": f"The same for the error's integral, {SIX} [1/s].",
    "wrench.selective.damping": f"Damping along the axes of the wrench, {SIX}, per inertia [1/s].",
}
FLIGHT_FIXED = {
    "per_inertia": "Whether gains are accelerations, which the law multiplies by the inertia.",
    "com_coupling": "Whether the model keeps the coupling through the CoM's offset.",
    "rate_filter": "Time constant of the attitude command's derivative [s].",
    "rigid.rate_filter": "The same for a platform without joints [s].",
}
ADMITTANCE = {
    "admittance.M": f"Virtual mass, {SIX} [kg, kg m^2].",
    "admittance.D": f"Virtual damping, {SIX} [N s/m, N m s/rad].",
    "admittance.K": f"Virtual spring, {SIX} [N/m, N m/rad].",
    "admittance.limit": "Largest correction per axis [m], [rad].",
}
MAX_GAIN = 1e6  # gain
SHARES = ("compensation",)  # gains between 0 and 1


class GainParameters:
    """Gains as parameters `gains.NAME`.

    Args:
        node: that declares them.
        fixed: names that are set when the node starts, and what they mean.
        changeable: names that may also be set in flight.
    """

    def __init__(
        self, node: SuiteNode, fixed: Mapping[str, str], changeable: Mapping[str, str]
    ) -> None:
        self._changeable = changeable
        self._tree = _declared_tree(node)
        for names, may_change in ((changeable, True), (fixed, False)):
            for name, what in names.items():
                self._declare(node, name, what, changeable=may_change)
        self.gains = self._validated(self._tree)

    def _declare(self, node: SuiteNode, name: str, what: str, *, changeable: bool) -> None:
        default = _plain(_node(self._tree, name)[name.split(".")[-1]])
        largest = 1.0 if name in SHARES else MAX_GAIN
        limits = None if isinstance(default, bool) else (0.0, largest)
        value = node.parameter(
            f"gains.{name}", default, what, changeable=changeable, limits=limits
        )
        _assign(self._tree, name, value)

    def apply_to(self, node: SuiteNode, controller: Controller) -> None:
        """From now on give the controller the gains that are set."""

        def check(parameters: Sequence[Parameter]) -> SetParametersResult:
            try:
                self._changed(parameters)
            except BadInput as error:
                return SetParametersResult(successful=False, reason=str(error))
            return SetParametersResult(successful=True)

        def take(parameters: Sequence[Parameter]) -> None:
            self.gains = self._changed(parameters)
            self._tree = self.gains.model_dump()
            controller.set_gains(self.gains)

        node.add_on_set_parameters_callback(check)
        node.add_post_set_parameters_callback(take)

    def _changed(self, parameters: Sequence[Parameter]) -> Gains:
        """The gains with some of them changed."""
        tree = Gains.model_validate(self._tree).model_dump()
        for parameter in parameters:
            name = parameter.name.removeprefix("gains.")
            if name in self._changeable:
                _assign(tree, name, parameter.value)
        return self._validated(tree)

    def _validated(self, tree: dict[str, Any]) -> Gains:
        return validate(Gains, tree, source="parameters", prefix="gains")


def _declared_tree(node: SuiteNode) -> dict[str, Any]:
    """All gains before single ones are set.

    Raises:
        BadInput: no such preset, or the YAML is none of gains.
    """
    what = "Gain preset (default, paper) that gives all gains which are not set."
    tree = GAINS.tree(node.parameter("gains.preset", "default", what))
    what = "All gains as YAML, in place of the preset's; empty: the preset's."
    text, source = node.parameter("gains.yaml", "", what), "parameter gains.yaml"
    if not text:
        return tree
    return validate(Gains, parse_yaml(text, source=source), source=source).model_dump()


def _plain(value: Any) -> Any:  # noqa: ANN401
    """A gain as ROS takes it: a list of floats, a float or a bool."""
    if isinstance(value, Sequence):
        return [float(gain) for gain in value]
    return value if isinstance(value, bool) else float(value)


def _node(tree: dict[str, Any], path: str) -> dict[str, Any]:
    """The mapping that holds the last key of a dotted path."""
    for key in path.split(".")[:-1]:
        tree = tree[key]
    return tree


def _assign(tree: dict[str, Any], path: str, value: Any) -> None:  # noqa: ANN401
    """Set what a dotted path names; arrays come as lists."""
    last = path.split(".")[-1]
    _node(tree, path)[last] = list(value) if isinstance(value, Sequence) else value
