# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of policies that nodes of all kinds take alike."""

from collections.abc import Callable
from functools import partial

from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import AnySensor, ImuInfo
from iap_io.ros.node import SuiteNode
from iap_io.ros.sensor_topics import RELIABLE
from iap_io.runs.topics import ESTIMATED, MEASURED
from iap_io.runs.vehicle_meta import TRUTH
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_physics.latching.latches import PHASES
from iap_simulation.scenario.rig_spec import sensor_infos
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def checked_phase(number: int) -> int:
    """The number of a latch's phase.

    Raises:
        BadInput: there is no such phase.
    """
    if number >= len(PHASES):
        raise BadInput(f"phases: {number} is none of 0 to {len(PHASES) - 1}")
    return number


def state_topic(vehicle: VehicleSpec) -> str:
    """Topic of the state that a vehicle goes by, as its controller would."""
    if vehicle.control.state_source != TRUTH:
        return ESTIMATED
    return MEASURED if any(vehicle.state_noise.model_dump().values()) else "state"


def listen_to_sensor(
    node: SuiteNode, scenario: Scenario, sensor: str, take: Callable[[Reading], None]
) -> None:
    """Subscribe to the readings of a sensor by its topic: images as they are, not compressed, and no true biases."""
    infos = [each for each in sensor_infos(scenario) if each.topic == sensor]
    decode = Decoder([_without_biases(each) for each in infos], ("none",))
    for topic, kind in decode.types.items():
        node.inputs.listen(kind, node.absolute(topic), partial(decode, topic), take, RELIABLE)


def _without_biases(info: AnySensor) -> AnySensor:
    """A sensor as it is on a real vehicle, where nobody knows its biases."""
    return info.model_copy(update={"has_bias": False}) if isinstance(info, ImuInfo) else info
