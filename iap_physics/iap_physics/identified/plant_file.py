# SPDX-License-Identifier: BSD-3-Clause
"""Files of identified plants: presets ``data/identified/NAME.yaml``, and what ``iap identify`` writes."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_DELAY
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import NonNegative, Positive, Real
from iap_description.errors import BadInput, shown
from iap_physics.identified.dynamics import CHANNELS, PARAMETERS, Dynamics

PLANTS = Presets(Path(__file__).parents[1] / "data" / "identified", "identified plant")


class DynamicPlant(Record):
    """Equation (18) of aerial_manipulator with its 32 parameters."""

    model: Literal["dynamic"]
    description: str
    gravity: NonNegative  # [m/s^2]
    links: tuple[Positive, Positive]  # l2, l3 that zeta was fitted with [m]
    zeta: Annotated[tuple[Real, ...], Field(min_length=PARAMETERS, max_length=PARAMETERS)]
    fit: dict[str, Any] | None = None  # where zeta comes from, for readers

    def dynamics(self) -> Dynamics:
        """Parameters as kernels take them."""
        return Dynamics(np.array([self.gravity, *self.zeta]), *self.links)


class Channel(Record):
    """A second-order channel with dead time."""

    gain: Real
    frequency: Positive  # natural [rad/s]
    damping: Positive  # ratio
    delay: Annotated[NonNegative, Field(le=MAX_DELAY)]  # [s]

    def row(self) -> Array:
        """Parameters as `iap_physics.identified.second_order` takes them."""
        return np.array([self.gain, self.frequency, self.damping, self.delay])


class SecondOrderPlant(Record):
    """A second-order channel for each velocity."""

    model: Literal["second_order"]
    description: str
    channels: dict[str, Channel]
    fit: dict[str, Any] | None = None  # where the channels come from, for readers

    @model_validator(mode="after")
    def _channels_are_known(self) -> Self:
        unknown = self.channels.keys() - set(CHANNELS)
        if unknown or not self.channels:
            raise ValueError(
                f"key 'channels': some of {', '.join(CHANNELS)} are expected"
                f" (got {shown(sorted(self.channels))})"
            )
        return self

    def rows(self) -> Array:
        """(7, 4) parameters of all channels, zeros where one is not identified."""
        rows = np.zeros((len(CHANNELS), 4))
        for name, channel in self.channels.items():
            rows[CHANNELS.index(name)] = channel.row()
        return rows


PlantFile = DynamicPlant | SecondOrderPlant
KINDS: dict[str, type[PlantFile]] = {
    "dynamic": DynamicPlant,
    "second_order": SecondOrderPlant,
}


def load_plant(name: str) -> PlantFile:
    """An identified plant by its name, or by the path of a YAML file.

    Raises:
        BadInput: no such plant, or its file is wrong, with file and key.
    """
    path = PLANTS.file_or_path(name)
    tree = read_yaml(path)
    kind = KINDS.get(str(tree.get("model")))
    if kind is None:
        raise BadInput(
            f"{path}: key 'model': one of {', '.join(KINDS)} is expected"
            f" (got {shown(tree.get('model'))})"
        )
    return validate(kind, tree, source=str(path))
