# SPDX-License-Identifier: BSD-3-Clause
"""All that a coordinator in a process of its own needs, in values that survive YAML bit for bit."""

from typing import Annotated, Self

from pydantic import Field

from iap_control.modules.bearing import Lift
from iap_control.modules.settings import ModulesSpec
from iap_description.config.plain_yaml import parse_mapping, yaml_text
from iap_description.config.record import Record, validate
from iap_description.config.values import Hertz, Positive, Real, Vec3

StateRow = Annotated[tuple[Real, ...], Field(min_length=13, max_length=13)]


class CoordinatedModule(Record):
    """One of the modules."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")  # of the vehicle
    state_topic: str  # of what it knows of its state, in the vehicle's namespace
    start: StateRow  # where it stands at t = 0
    weight: Positive  # [N]
    rotors: tuple[tuple[Real, Real], ...]  # their places along x and y from its CoM [m]
    stiffness: Vec3  # of its law: force per error of place, own axes [N/m]
    position_bias: Vec3  # of its own estimate, which relative poses do not have [m]


class CoordinationSpec(Record):
    """Modules under one coordinator."""

    modules: ModulesSpec
    vehicles: Annotated[tuple[CoordinatedModule, ...], Field(min_length=1)]
    control_hz: Hertz  # of states [Hz]
    time_step: Positive  # of which all times are whole multiples [s]

    @property
    def lift(self) -> Lift:
        """The modules' weights, and the lift of their rotors."""
        return Lift.of(
            [each.weight for each in self.vehicles],
            [each.rotors for each in self.vehicles],
            [each.stiffness for each in self.vehicles],
        )

    @property
    def names(self) -> list[str]:
        """Of the modules."""
        return [vehicle.name for vehicle in self.vehicles]

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """The specification of YAML text; `source` names it in errors.

        Raises:
            BadInput: no YAML, or anything unknown, missing or impossible.
        """
        return validate(cls, parse_mapping(text, source=source), source=source)

    def yaml(self) -> str:
        """YAML text from which `read` makes an equal one, bit for bit."""
        return yaml_text(self.model_dump(mode="json"))
