# SPDX-License-Identifier: BSD-3-Clause
"""The resolved scenario: one checked record of all that a run needs."""

from typing import Self

from pydantic import model_validator

from iap_description.world.obstacles import Obstacles
from iap_physics.engines.make import FREE
from iap_simulation.scenario.firmware_checks import check_firmware
from iap_simulation.scenario.plant_checks import (
    check_drawn_releases,
    check_modules,
    check_plant,
    check_scenario_latches,
)
from iap_simulation.scenario.plant_choice import IdentifiedChoice
from iap_simulation.scenario.scenario_keys import ScenarioKeys
from iap_simulation.scenario.vehicle_spec import VehicleSpec


class Scenario(ScenarioKeys):
    """A resolved scenario: everything a run needs, nothing implied."""

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [vehicle.name for vehicle in self.vehicles]
        if len(set(names)) < len(names):
            raise ValueError(f"key 'vehicles': names must differ, are {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _plant_has_what_is_asked_for(self) -> Self:
        check_plant(self)
        check_modules(self)
        check_scenario_latches(self)
        check_drawn_releases(self)
        return self

    @model_validator(mode="after")
    def _firmware_can_fly(self) -> Self:
        for vehicle in self.vehicles:
            if vehicle.firmware is not None:
                check_firmware(self, vehicle, vehicle.firmware)
        return self

    @model_validator(mode="after")
    def _rates_fit_vehicles(self) -> Self:
        for vehicle in self.vehicles:
            self.rates.check_autopilot(vehicle.control.gains.autopilot, "control.gains.autopilot")
            self.rates.check_delays(vehicle.faults, "faults")
        return self

    @model_validator(mode="after")
    def _delays_are_none_before_zero(self) -> Self:
        least = min(vehicle.model_error.delay for vehicle in self.vehicles)
        if self.draw.delay > least:
            raise ValueError(
                f"key 'draw.delay': {self.draw.delay} s is more than model_error.delay, {least} s: commands would act"
                " before they are given"
            )
        return self

    @property
    def _solids(self) -> list[str]:
        """Names of objects that vehicles are meant to touch."""
        return [
            name for name, each in self.world.objects.items() if not isinstance(each, Obstacles)
        ]

    @property
    def untouched(self) -> list[str]:
        """Names of objects that vehicles pass through, since the engine has no contact."""
        return self._solids if self.engine.name == FREE else []

    def has_contact(self, vehicle: VehicleSpec) -> bool:
        """True if a vehicle can be in contact, or wrenches are compared: they are measured, estimated and recorded."""
        control = vehicle.control
        acts = control.admittance or control.wrench_mode != "none"
        is_met = self.engine.name != FREE and bool(self._solids)
        meets = is_met or bool(self.latches) or vehicle.platform.tool is not None
        is_compared = getattr(vehicle.reference, "actual_wrench_topic", None) is not None
        return acts or meets or is_compared or bool(vehicle.disturbances)

    @property
    def identified(self) -> IdentifiedChoice | None:
        """The plant where it was identified from logs; None where it is of bodies."""
        return self.plant if isinstance(self.plant, IdentifiedChoice) else None

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return 1.0 / self.rates.control_hz

    @property
    def has_drag(self) -> bool:
        """True if drag acts on bodies."""
        return self.drag == "on" or (self.drag == "auto" and self.wind.speed > 0.0)
