# SPDX-License-Identifier: BSD-3-Clause
"""The ROS parameters of controller and admittance: the platform, its references, and the measured wrench."""

from collections.abc import Sequence

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from iap_control.actuation.kinds import laws, platform_model
from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import PlatformModel
from iap_control.arm.arm_control import ArmControl
from iap_control.arm.arm_spec import ArmPlan
from iap_control.controllers.controller import ATTITUDE, AUTO, VELOCITY, make_controller
from iap_control.controllers.known_faults import KnownFaults, read_faults
from iap_control.controllers.land_detector import LandDetector
from iap_control.gains import Gains
from iap_control.interaction.admittance import Admittance
from iap_control.interaction.push import Push, PushPlan
from iap_control.lever import LeverCompensation
from iap_control.nodes.estimate_health import declared_failsafe
from iap_control.responders.control_responder import (
    AdmittanceResponder,
    ControlResponder,
    WrenchInteraction,
)
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import SOURCES, ReferenceInput, Source
from iap_control.responders.wrench_input import WrenchDemand, WrenchInput
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import validate
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.signals import ForceMode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import KnownFault
from iap_description.vehicles.platform import Platform
from iap_io.ros.node import SuiteNode

YAW_MODES = ("follow", "hold", "reference")
OLD_YAW_MODES = {"given": "reference"}  # read for one version more
WRENCH_AXES = "wrench_axes"
MODES = {mode.name.lower(): mode for mode in ForceMode}


def make_control_responder(
    node: SuiteNode, gains: Gains
) -> tuple[ControlResponder, str, Allocator, Platform]:
    """Declare what a controller is made of, and make it.

    Also returns the topic of the wrench that it measures, an allocator of its own for commanded wrenches, and the
    platform.

    Raises:
        BadInput: one of the parameters cannot be used.
    """
    platform = node.platform()
    what = "Headings of the aircraft: follow (the platform) | hold | reference (as it has them)."
    yaw = node.choice("yaw_mode", YAW_MODES, what, OLD_YAW_MODES)
    gravity = node.parameter("gravity", GRAVITY, "Along -z of map [m/s^2].", limits=(0.1, 100.0))
    law = node.parameter(
        "law",
        AUTO,
        f"{AUTO}, {', '.join([*laws(), ATTITUDE, VELOCITY])}, or module:Class of your own.",
    )
    limits, source = _references(node)
    assembly = Assembly.of(platform)
    model = platform_model(
        assembly,
        platform.fleet,
        gravity=gravity,
        com_coupling=gains.com_coupling,
    )
    dt = _period(node)
    controller = make_controller(law, model, gains, dt=dt, yaw_mode=yaw, key="law")
    references = ReferenceInput(model.count, limits, source, needs_headings=yaw == "reference")
    topic, wrenches = _wrenches(node, source, "")
    interaction = _interaction(node, model, wrenches, dt, limits.timeout)
    allocator = Allocator(model, rate_filter=gains.rate_filter, dt=dt)
    faults = KnownFaults(_faults(node, model.fleet), model, controller, [allocator])
    lever, failsafe = LeverCompensation.of(assembly), declared_failsafe(node)
    parts = (references, interaction, lever, faults, failsafe, _arm(node, assembly, model, dt))
    responder = ControlResponder(controller, *parts)
    responder.land_detector = _land_detector(node, platform, model)
    return responder, topic, allocator, platform


def _land_detector(
    node: SuiteNode, platform: Platform, model: PlatformModel
) -> LandDetector | None:
    """The land detector of a vehicle that may land; None of others."""
    what = "Whether the ground, z = 0 of map, may be touched: rotors end once the vehicle stands there."
    if not node.parameter("may_land", False, what):
        return None
    return LandDetector(platform.ground_clearance, model.inertia.mass, model.inertia.gravity)


def _arm(
    node: SuiteNode, assembly: Assembly, model: PlatformModel, dt: float
) -> ArmControl | None:
    """The control of the platform's arm; None without one, or where it is left alone."""
    what = (
        "What the platform's arm does, as YAML (iap_control.arm.arm_spec.ArmPlan); empty: nothing."
    )
    text, source = node.parameter("arm", "", what), "parameter arm"
    if not text:
        return None
    if assembly.arm is None:
        raise BadInput(f"{source}: the platform has no arm")
    plan = validate(ArmPlan, parse_yaml(text, source=source), source=source)
    times = {"lead": plan.lead, "last": plan.last}
    return ArmControl.of(assembly.arm, model, plan.spec, dt=dt, **times)


def make_admittance_responder(
    node: SuiteNode, gains: Gains
) -> tuple[AdmittanceResponder, str, Platform]:
    """The same for an admittance; returns also the topic of the wrench, and the platform.

    Raises:
        BadInput: one of the parameters cannot be used.
    """
    platform = node.platform()
    limits, source = _references(node)
    topic, wrenches = _wrenches(node, source, "wrench/filtered")
    if wrenches is None:
        raise BadInput("parameter wrench_topic: empty, but references yield to a wrench")
    references = ReferenceInput(platform.count, limits, source, needs_headings=False)
    admittance = Admittance(gains.admittance, _period(node))
    return AdmittanceResponder(admittance, references, wrenches), topic, platform


def accept_axes(node: SuiteNode, responder: ControlResponder) -> None:
    """From now on let `wrench_axes` choose the axes of the wrench in flight."""

    def take(parameters: Sequence[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                if parameter.name == WRENCH_AXES:
                    responder.set_axes(tuple(parameter.value))
        except BadInput as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(take)


def _period(node: SuiteNode) -> float:
    what = "Rate at which states come [Hz]."
    return 1.0 / node.parameter("control_rate", 200.0, what, limits=(1.0, 1e4))


def _faults(node: SuiteNode, fleet: Sequence[Aircraft]) -> tuple[KnownFault, ...]:
    """The faults that the controller is told of."""
    what = "Faults that the controller is told of when they strike, as a YAML list; empty: none."
    text = node.parameter("faults", "", what)
    return read_faults(text, fleet, source="parameter faults") if text else ()


def _references(node: SuiteNode) -> tuple[InputLimits, Source]:
    what = "Answer a state with the reference and the wrench of its stamp (stamped), or with the newest (latest)."
    source = node.choice("reference_source", SOURCES, what)
    what = "A simple input that is silent for longer stands still [s of simulation time]."
    timeout = node.parameter("input_timeout", 0.5, what, limits=(0.01, 60.0))
    return InputLimits(timeout=timeout), source


def _wrenches(node: SuiteNode, source: Source, default: str) -> tuple[str, WrenchInput | None]:
    what = "Topic of the measured wrench: wrench/raw, wrench/filtered or wrench/estimated; empty: none."
    topic = node.parameter("wrench_topic", default, what)
    what = "An older wrench counts no more, and wrench control is off [s of simulation time]."
    timeout = node.parameter("wrench_timeout", 0.1, what, limits=(0.01, 60.0))
    return topic, WrenchInput(timeout, source) if topic else None


def _interaction(
    node: SuiteNode,
    model: PlatformModel,
    wrenches: WrenchInput | None,
    dt: float,
    timeout: float,
) -> WrenchInteraction | None:
    """The part of the controller that acts upon the measured wrench."""
    what = f"How the wrench is controlled: {', '.join(MODES)}."
    mode = MODES[node.choice("wrench_mode", tuple(MODES), what)]
    what = "What a scenario pushes, as YAML; empty: only what comes on wrench/reference."
    text, source = node.parameter("push", "", what), "parameter push"
    what = "Axes under wrench control in mode selective while wrench/reference is followed: x y z roll pitch yaw."
    axes = tuple(node.parameter(WRENCH_AXES, ["x"], what, changeable=True))
    if wrenches is None:
        if mode != ForceMode.NONE:
            raise BadInput("parameter wrench_topic: empty, but wrench_mode needs a wrench")
        return None
    push = validate(Push, parse_yaml(text, source=source), source=source) if text else None
    is_planned = push is not None and mode != ForceMode.NONE
    plan = PushPlan(push, mode, dt=dt) if is_planned else None
    demand = WrenchDemand(model, mode, axes, timeout=timeout, name=node.vehicle)
    return WrenchInteraction(wrenches, mode, plan, demand)
