# SPDX-License-Identifier: BSD-3-Clause
"""The ROS parameters with which other packages' nodes fly a resolved scenario; launch files and tests use them."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from iap_control.arm.arm_spec import ArmPlan
from iap_control.gains import PRESETS as GAINS
from iap_description.config.alternatives import alternatives
from iap_description.config.plain_yaml import yaml_text
from iap_description.errors import BadInput
from iap_description.sensors.mounts import space
from iap_description.sensors.sensor_info import ImuInfo, sensors_text
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_estimation.navigation.make import FLIGHT_METHODS
from iap_estimation.virpo.localizer import OFFLINE
from iap_io.runs.topics import ESTIMATED, HEALTH, MEASURED, PLANNED, STATE
from iap_io.runs.vehicle_meta import TRUTH
from iap_learning.learned_agents import flies_by_references
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.modules.coordination import coordination_spec
from iap_simulation.scenario.firmware_checks import law_of
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.scenario.rig_spec import rig_spec, sensor_infos
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.parts import controller_model
from iap_simulation.vehicles.vehicle import Vehicle

CONTROLLER, ADMITTANCE, OBSERVER = "controller_node", "admittance_node", "wrench_observer_node"
POLICY, COORDINATOR = "policy_node", "coordinator_node"  # of all vehicles
FRONTEND, VIRPO, JOINT, CENTRE = "frontend_node", "virpo_node", "joint_node", "centre_node"
CAPTURE = "capture_node"
ESTIMATION = (OBSERVER, FRONTEND, VIRPO, JOINT, CENTRE, CAPTURE)
SENSOR_NODES = {
    "imu": "imu_node",
    "uwb": "uwb_node",
    "lidar": "lidar_node",
    "depth_camera": "lidar_node",
    "cameras": "camera_node",
}
OTHER_SENSORS = "sensor_node"
PACKAGES = {
    **dict.fromkeys([CONTROLLER, ADMITTANCE, COORDINATOR], "iap_control"),
    POLICY: "iap_learning",
    **dict.fromkeys(ESTIMATION, "iap_estimation"),
    **dict.fromkeys([*SENSOR_NODES.values(), OTHER_SENSORS], "iap_sensors"),
}
CENTRAL_METHODS = ("joint", "drift_filter")  # methods of joint_node
REVISED = "reference/revised"
MAX_LAG = 0.2  # of images behind a state in lockstep [s]


def package_of(executable: str) -> str:
    """The package of one of the suite's executables."""
    return PACKAGES.get(executable, "iap_bringup")


def vehicle_nodes(scenario: Scenario, vehicle: VehicleSpec) -> dict[str, dict[str, Any]]:
    """The nodes between a vehicle's states, references and commands: executable -> parameters.

    A vehicle that can be in contact has an observer, whose estimate is recorded even where control
    does not use it.
    """
    is_flown = scenario.policy is None or flies_by_references(scenario)
    nodes = {CONTROLLER: controller_parameters(scenario, vehicle)} if is_flown else {}
    if scenario.has_contact(vehicle) or is_coordinated(scenario):
        nodes[OBSERVER] = observer_parameters(scenario, vehicle)
    if vehicle.control.admittance:
        answering = _answering(scenario, vehicle)
        nodes[ADMITTANCE] = {**answering, "wrench_topic": _wrench_topic(vehicle)}
    return nodes


def sensor_nodes(scenario: Scenario) -> list[str]:
    """The nodes that a scenario's sensors need; each serves all vehicles."""
    keys = {"cameras"} if scenario.cameras else set()
    for vehicle in scenario.vehicles:
        sensors = vehicle.sensors
        own = {"imu": sensors.imu, "cameras": sensors.cameras, **sensors.mounted}
        keys |= {key for key, given in own.items() if given}
    needed = {SENSOR_NODES.get(key, OTHER_SENSORS) for key in keys}
    return [n for n in dict.fromkeys([*SENSOR_NODES.values(), OTHER_SENSORS]) if n in needed]


def sensor_parameters(scenario: Scenario) -> dict[str, Any]:
    """The parameters with which any node of sensors serves a scenario; all take the same rig."""
    return {"rig": rig_spec(scenario).text}


def localization_nodes(
    scenario: Scenario, vehicle: VehicleSpec, method: str, pace: str = ""
) -> list[tuple[str, str, dict[str, Any]]]:
    """The nodes that localise a vehicle: executable, namespace, and parameters.

    Args:
        scenario: whose sensors they are.
        vehicle: its part of the scenario.
        method: how.
        pace: of physics_node, if it runs; in lockstep time waits for what is seen.

    Raises:
        BadInput: there is no such method for nodes.
    """
    if method in OFFLINE:
        raise BadInput(
            f"method '{method}' is for recordings alone, by iap localize (choices: {', '.join(FLIGHT_METHODS)})"
        )
    if method not in FLIGHT_METHODS:
        raise BadInput(f"no method '{method}': {alternatives(method, FLIGHT_METHODS)}")
    assembly, values = (
        Assembly.of(vehicle.platform, vehicle.name),
        estimator_parameters(scenario, vehicle),
    )
    spaces = [space(assembly, body) for body in assembly.aircraft]
    waits = {**values, "max_lag": MAX_LAG if pace == "lockstep" else 0.0}
    if method == CAPTURE_INERTIAL:
        waiting = {key: value for key, value in waits.items() if key != "frontend"}
        return [(CAPTURE, f"/{vehicle.name}", waiting)]
    out = [(FRONTEND, each, values) for each in spaces]
    if method in CENTRAL_METHODS:
        return [*out, (JOINT, f"/{vehicle.name}", {**waits, "method": method})]
    out += [(VIRPO, each, {**values, "method": method}) for each in spaces]
    return [*out, (CENTRE, f"/{vehicle.name}", waits)]


def estimator_parameters(scenario: Scenario, vehicle: VehicleSpec) -> dict[str, Any]:
    """Parameters that the nodes that localise a vehicle have in common."""
    control = vehicle.control
    return {
        "platform": _yaml(vehicle.platform),
        "sensors": sensors_text(sensor_infos(scenario, vehicle.name)),
        "gravity": scenario.world.gravity,
        "control_rate": scenario.rates.control_hz,
        "preset": control.estimator,
        "frontend": control.frontend,
        "in_control": control.state_source != TRUTH,
    }


def physics_parameters(
    scenario: Scenario, vehicles: Sequence[Vehicle] | None = None
) -> dict[str, Any]:
    """Parameters that make a physics_node the plant of a scenario; vehicles are made of it unless they are given."""
    return {"plant": plant_spec(scenario, vehicles).yaml()}


def controller_parameters(scenario: Scenario, vehicle: VehicleSpec) -> dict[str, Any]:
    """Parameters that make a controller_node the controller of a scenario's vehicle, bit for bit."""
    control = vehicle.control
    assembly = Assembly.of(vehicle.platform, vehicle.name)
    out = {
        **_answering(scenario, vehicle),
        "law": law_of(vehicle, controller_model(scenario, vehicle, assembly)),
        "yaw_mode": control.yaw,
        "gravity": scenario.world.gravity,
    }
    if vehicle.start.mode == "ground" and scenario.world.has_ground:
        out["may_land"] = True
    if control.admittance:
        out["reference_topic"] = REVISED
    if control.state_source != TRUTH and control.failsafe is not None:
        out |= {"failsafe": _yaml(control.failsafe), "health_topics": health_topics(vehicle)}
    if vehicle.platform.arm is not None:
        line = Vehicle.of(scenario, vehicle).timeline
        out["arm"] = _yaml(ArmPlan(spec=vehicle.arm, lead=line.lead, last=line.last))
    if scenario.modules is not None and is_coordinated(scenario):
        replaces = scenario.modules.replaces_integral
        coordination = {"coordinated": True, "replaces_integral": replaces}
        out |= {**coordination, "reference_topic": "reference/coordinated"}
    known = [each for each in vehicle.faults if getattr(each, "known", False)]
    if known:
        trees = [each.model_dump(mode="json") for each in known]
        out["faults"] = yaml_text(trees)
    if scenario.has_contact(vehicle):
        out |= {"wrench_topic": _wrench_topic(vehicle), "wrench_mode": control.wrench_mode}
    if scenario.has_contact(vehicle) and vehicle.push is not None:
        out["push"] = _yaml(vehicle.push)
        if vehicle.push.axes:
            out["wrench_axes"] = list(vehicle.push.axes)
    return out


def health_topics(vehicle: VehicleSpec) -> list[str]:
    """Topics, within the vehicle's namespace, of the health of the estimators that it flies on."""
    if vehicle.control.state_source in (*CENTRAL_METHODS, CAPTURE_INERTIAL):
        return [HEALTH]
    assembly = Assembly.of(vehicle.platform, vehicle.name)
    topics = [f"{space(assembly, body)}/{HEALTH}" for body in assembly.aircraft]
    return [each.removeprefix(f"/{vehicle.name}/") for each in topics]


def reference_parameters(scenario: Scenario, vehicle: VehicleSpec) -> dict[str, Any]:
    """Parameters that make a reference_node play the references of a scenario's vehicle."""
    control = vehicle.control
    out = {
        "platform": _yaml(vehicle.platform),
        "reference": _yaml(vehicle.reference),
        "start": vehicle.start.mode,
        "lead_in": vehicle.start.lead_in,
        "offset": list(vehicle.offset),
        "duration": scenario.duration or 0.0,
        "control_rate": scenario.rates.control_hz,
        "home": str(Vehicle.of(scenario, vehicle).start[0].tolist()),
    }
    if control.aircraft_yaw_deg is not None:
        out["aircraft_yaw_deg"] = str(list(control.aircraft_yaw_deg))
    return out


def coordinator_parameters(scenario: Scenario) -> dict[str, Any]:
    """Parameters that make a coordinator_node the coordinator of a scenario's modules."""
    return {"coordination": coordination_spec(scenario).yaml()}


def observer_parameters(scenario: Scenario, vehicle: VehicleSpec) -> dict[str, Any]:
    """Parameters that make a wrench_observer_node the observer of a scenario's vehicle."""
    autopilot = vehicle.control.gains.autopilot
    units = [each for each in sensor_infos(scenario, vehicle.name) if isinstance(each, ImuInfo)]
    if scenario.modules is not None and is_coordinated(scenario):
        kind, gains = "module", {"module_gain": list(scenario.modules.observer_gain)}
    else:
        kind, gains = vehicle.control.observer, {}
    by_units = {"sensors": sensors_text(units), "reliable": True}
    return {
        **(by_units if kind == "acceleration" else gains),
        "observer": kind,
        "platform": _yaml(vehicle.platform),
        "control_rate": scenario.rates.control_hz,
        "gravity": scenario.world.gravity,
        "gain": vehicle.control.observer_gain,
        "autopilot.rotor_lead": autopilot.rotor_lead,
        "autopilot.attitude": list(autopilot.attitude),
        "autopilot.rate": list(autopilot.rate),
        "measured_topic": _measured_topic(vehicle),
    }


def _answering(scenario: Scenario, vehicle: VehicleSpec) -> dict[str, Any]:
    """Parameters of all nodes that answer the states of a vehicle."""
    control = vehicle.control
    return {
        "platform": _yaml(vehicle.platform),
        "gains.preset": control.preset if control.preset in GAINS.names() else "default",
        "gains.yaml": _yaml(control.gains),
        "control_rate": scenario.rates.control_hz,
        "state_topic": _measured_topic(vehicle) or STATE,
        "reference_topic": "reference" if scenario.policy is None else PLANNED,
    }


def _wrench_topic(vehicle: VehicleSpec) -> str:
    return f"wrench/{vehicle.control.wrench_source}"


def _measured_topic(vehicle: VehicleSpec) -> str:
    """Topic of the state that a controller goes by; empty where that is the truth."""
    if vehicle.control.state_source != TRUTH:
        return ESTIMATED
    return MEASURED if any(vehicle.state_noise.model_dump().values()) else ""


def _yaml(record: BaseModel) -> str:
    return yaml_text(record.model_dump(mode="json"))
