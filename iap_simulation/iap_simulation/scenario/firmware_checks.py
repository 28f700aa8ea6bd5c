# SPDX-License-Identifier: BSD-3-Clause
"""What a vehicle needs to be flown by a firmware, and the law that commands it."""

from iap_control.allocation.model import PlatformModel
from iap_control.controllers.controller import ATTITUDE, AUTO
from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_io.runs.vehicle_meta import TRUTH
from iap_physics.firmware.settings import FirmwareSettings
from iap_simulation.scenario.scenario_keys import ScenarioKeys
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def check_firmware(
    scenario: ScenarioKeys, vehicle: VehicleSpec, firmware: FirmwareSettings
) -> None:
    """Refuse what a firmware cannot fly.

    Raises:
        ValueError: naming the key.
    """
    ratio = scenario.rates.physics_hz / firmware.rate_hz
    source, identified = vehicle.control.state_source, scenario.plant.type != "bodies"
    for key, why in {
        "plant.type": "a firmware flies bodies" if identified else "",
        "firmware.rate_hz": ""
        if ratio >= 1.0 and abs(ratio - round(ratio)) < 1e-9
        else f"{firmware.rate_hz:g} does not divide rates.physics_hz, {scenario.rates.physics_hz:g}",
        "control.state_source": ""
        if source == TRUTH
        else f"a firmware goes by its own sensors and the true attitude, not by {source}",
        "modules": "a firmware does not fly joined modules" if scenario.modules else "",
        "control.wrench_mode": "a firmware of one aircraft takes no wrench"
        if vehicle.platform.count == 1 and vehicle.control.wrench_mode != "none"
        else "",
    }.items():
        if why:
            raise ValueError(f"key '{key}': {why}")


def law_of(vehicle: VehicleSpec, model: PlatformModel) -> str:
    """The law that commands a vehicle: with a firmware on one rigid aircraft, that of attitude and thrust.

    Raises:
        BadInput: its law commands rotor speeds, which no firmware takes.
    """
    law, actuation = vehicle.control.law, model.actuation
    if vehicle.firmware is None or actuation.mode != Mode.RPM or ":" in law:
        return law
    if actuation.tilts_to_push and model.count == 1 and law in (AUTO, ATTITUDE):
        return ATTITUDE
    raise BadInput(f"vehicle '{vehicle.name}': key 'firmware': {_why_not(model, law)}")


def _why_not(model: PlatformModel, law: str) -> str:
    """Why the firmwares of a platform's aircraft cannot fly a rigid one."""
    actuation = model.actuation
    chosen = actuation.law if law == AUTO else law
    if not actuation.tilts_to_push:
        return (
            "a firmware takes attitude and thrust, and this platform also pushes sideways without tilting, by rotor"
            f" speeds of its law '{chosen}'"
        )
    if model.count == 1:
        return (
            f"a firmware takes attitude and thrust, and the law '{chosen}' commands rotor speeds"
        )
    if any(each.turns_itself for each in model.fleet):
        return (
            f"its {model.count} aircraft are one rigid body: autopilots that each hold its attitude would pull against"
            " each other by their integrals"
        )
    return (
        f"its rotors are those of one multirotor in {model.count} parts, which one autopilot would have to fly, and the"
        " firmwares here fly quadrotors of four rotors"
    )
