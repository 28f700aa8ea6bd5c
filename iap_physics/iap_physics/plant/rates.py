# SPDX-License-Identifier: BSD-3-Clause
"""Rates of a control loop and of its plant."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from iap_description.config.record import Record
from iap_description.config.values import Hertz
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.faults import AnyFault, LateCommands


class LoopRates(Record):
    """Rates of the loop; physics must be a whole multiple of control."""

    physics_hz: Hertz
    control_hz: Annotated[Hertz, Field(ge=1.0)]  # slower flies nothing

    @property
    def substeps(self) -> int:
        """Physics steps in one control period."""
        return round(self.physics_hz / self.control_hz)

    @model_validator(mode="after")
    def _is_whole_ratio(self) -> Self:
        if not _is_whole(self.physics_hz / self.control_hz):
            raise ValueError(
                f"physics_hz {self.physics_hz} is not a whole multiple of control_hz {self.control_hz}"
            )
        return self

    def check_autopilot(self, gains: AutopilotGains, key: str) -> None:
        """Refuse an autopilot whose rate does not divide the physics rate.

        Args:
            gains: of the autopilot.
            key: of its gains in the configuration, for the error.

        Raises:
            ValueError: it does not.
        """
        rate = gains.rate_hz
        if rate and not _is_whole(self.physics_hz / rate):
            raise ValueError(
                f"key '{key}.rate_hz': {rate} does not divide physics_hz {self.physics_hz}"
            )

    def check_delays(self, faults: Sequence[AnyFault], key: str) -> None:
        """Refuse commands that are late by less than a control period.

        Args:
            faults: of a vehicle.
            key: of the faults in the configuration, for the error.

        Raises:
            ValueError: some are.
        """
        for i, fault in enumerate(faults):
            if isinstance(fault, LateCommands) and fault.commands_late * self.control_hz < 0.5:
                raise ValueError(
                    f"key '{key}.{i}.commands_late': {fault.commands_late} s is no control period of"
                    f" {1.0 / self.control_hz:g} s"
                )


def _is_whole(ratio: float) -> bool:
    return ratio >= 1.0 and abs(ratio - round(ratio)) <= 1e-9
