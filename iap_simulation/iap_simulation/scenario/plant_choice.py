# SPDX-License-Identifier: BSD-3-Clause
"""The key `plant` of a scenario: bodies in an engine, or a model identified from logs."""

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from iap_description.config.record import Record, type_of
from iap_description.config.values import Flag, NonNegative


class BodiesChoice(Record):
    """Bodies, rotors and air in the engine of the key `engine`."""

    type: Literal["bodies"]


class IdentifiedChoice(Record):
    """A model of `iap_physics.identified`, which moves the first vehicle and its arm by velocity commands."""

    type: Literal["identified"]
    file: str  # a model's name, or the path of a YAML file, such as 'iap identify' writes
    noise: NonNegative  # half-width on joints and velocities in every step [rad, m/s, rad/s]
    static_inverse: Flag = False  # whether commands become those at which the model holds them


Tagged = Annotated[BodiesChoice, Tag("bodies")] | Annotated[IdentifiedChoice, Tag("identified")]
PlantChoice = Annotated[Tagged, Discriminator(type_of)]
BODIES = BodiesChoice(type="bodies")
