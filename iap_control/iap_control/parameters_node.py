# SPDX-License-Identifier: BSD-3-Clause
"""The controller's ROS parameters: what it flies, with which gains, and which of these change in flight."""

from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from iap_control.control_loop import SOURCES, ControlLoop
from iap_control.controller import PlatformController
from iap_control.gains import Gains, preset_tree
from iap_control.inputs import Limits
from iap_control.model import PlatformModel
from iap_description.assembly import Assembly
from iap_description.config import parse_yaml, validate
from iap_description.errors import BadInput
from iap_description.platform import Platform, load_platform
from iap_description.ros_node import SuiteNode

SIX = "order x y z roll pitch yaw"
CHANGEABLE = {
    "kP": f"Position and attitude gains, {SIX} [N/m, N m/rad; 1/s^2 where per_inertia].",
    "kI": f"Gains of the errors' integrals, {SIX} [N/m/s, N m/rad/s; 1/s^3 where per_inertia].",
    "kD": f"Velocity gains, {SIX} [N s/m, N m s/rad; 1/s where per_inertia].",
    "integral_limit": f"Largest share of the integrals, {SIX} [N, N m; m/s^2, rad/s^2 where per_inertia].",
    "error_limit": "Errors of position [m] and attitude (sine of the angle) beyond which kP pulls no harder.",
    "rigid.kP": "Attitude gains of a platform without joints [1/s^2].",
    "rigid.kD": "Rate gains of a platform without joints [1/s].",
}
FIXED = {
    "per_inertia": "Whether gains are accelerations, which the law multiplies by the inertia.",
    "com_coupling": "Whether the model keeps the coupling through the CoM's offset.",
    "rate_filter": "Time constant of the attitude command's derivative [s].",
    "rigid.rate_filter": "The same for a platform without joints [s].",
}
LARGEST = 1e6  # gain
YAW_MODES = ("follow", "hold", "given")


class GainParameters:
    """Gains as parameters `gains.NAME`; those in `CHANGEABLE` may be set in flight.

    Args:
        node: that declares them.
    """

    def __init__(self, node: SuiteNode) -> None:
        what = "Gain preset (default, paper) that gives all gains which are not set."
        self._tree = preset_tree(node.parameter("gains.preset", "default", what))
        for name, what in CHANGEABLE.items():
            preset = [float(gain) for gain in _value(self._tree, name)]
            value = node.parameter(
                f"gains.{name}", preset, what, changeable=True, limits=(0.0, LARGEST)
            )
            _assign(self._tree, name, value)
        for name, what in FIXED.items():
            _assign(
                self._tree, name, node.parameter(f"gains.{name}", _value(self._tree, name), what)
            )
        self.gains = self._validated(self._tree)

    def apply_to(self, node: SuiteNode, controller: PlatformController) -> None:
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
            if name in CHANGEABLE:
                _assign(tree, name, parameter.value)
        return self._validated(tree)

    def _validated(self, tree: dict[str, Any]) -> Gains:
        return validate(Gains, tree, source="parameters", prefix="gains")


def make_loop(node: SuiteNode, gains: Gains) -> ControlLoop:
    """Declare what a controller is made of, and make it.

    Raises:
        BadInput: one of the parameters cannot be used.
    """
    what = "Name of a platform, the path of its YAML file, or the YAML itself."
    platform = _platform(node.parameter("platform", "three_star", what))
    what = "Headings of the aircraft: follow (the platform) | hold | given (by the reference)."
    yaw = _choice(node, "yaw_mode", YAW_MODES, what)
    what = "Answer a state with the reference of its stamp (stamped), or with the newest (latest)."
    source = _choice(node, "reference_source", SOURCES, what)
    what = "Rate at which states come [Hz]."
    rate = node.parameter("control_rate", 200.0, what, limits=(1.0, 1e4))
    gravity = node.parameter("gravity", 9.81, "Along -z of map [m/s^2].", limits=(0.1, 100.0))
    what = "A simple input that is silent for longer stands still [s of simulation time]."
    timeout = node.parameter("input_timeout", 0.5, what, limits=(0.01, 60.0))
    model = PlatformModel.of(
        Assembly.of(platform),
        platform.aircraft,
        gravity=gravity,
        com_coupling=gains.com_coupling,
    )
    controller = PlatformController(model, gains, dt=1.0 / rate, yaw_mode=yaw)
    return ControlLoop(controller, Limits(timeout=timeout), source)


def _platform(text: str) -> Platform:
    """A platform by name, by path, or by the YAML of one, which has more than one line."""
    if "\n" not in text:
        return load_platform(text)
    source = "parameter platform"
    return validate(Platform, parse_yaml(text, source=source), source=source)


def _choice(node: SuiteNode, name: str, choices: Sequence[str], what: str) -> Any:  # noqa: ANN401
    value = node.parameter(name, choices[0], what)
    if value not in choices:
        raise BadInput(f"parameter {name}: '{value}' is none of {', '.join(choices)}")
    return value


def _node(tree: dict[str, Any], path: str) -> dict[str, Any]:
    """The mapping that holds the last key of a dotted path."""
    for key in path.split(".")[:-1]:
        tree = tree[key]
    return tree


def _value(tree: dict[str, Any], path: str) -> Any:  # noqa: ANN401
    return _node(tree, path)[path.split(".")[-1]]


def _assign(tree: dict[str, Any], path: str, value: Any) -> None:  # noqa: ANN401
    """Set what a dotted path names; arrays come as lists."""
    last = path.split(".")[-1]
    _node(tree, path)[last] = list(value) if isinstance(value, Sequence) else value
