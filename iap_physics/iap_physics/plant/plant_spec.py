# SPDX-License-Identifier: BSD-3-Clause
"""The specification of a plant, in values that survive YAML bit for bit: world, vehicles as they fly, and starts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.plain_yaml import parse_mapping, yaml_text
from iap_description.config.record import Record, validate
from iap_description.config.text_files import read_text
from iap_description.config.values import Flag, Seed
from iap_description.math.random_streams import stream
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.latch import Ends, Latch, check_ports
from iap_description.world.world import World
from iap_physics.air.wind import Wind
from iap_physics.engines.make import EngineName, default_engine
from iap_physics.identified.spec import IdentifiedSpec
from iap_physics.plant.joint_spec import PlantJoints
from iap_physics.plant.rates import LoopRates
from iap_physics.plant.vehicle_spec import PlantVehicle

LatchName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


def check_latches(
    latches: Mapping[str, Latch], ends: Mapping[str, Ends], world: World, engine: str
) -> None:
    """Refuse latches whose ports are not there, and any in an engine without contact.

    Raises:
        ValueError: naming the key.
    """
    for name, latch in latches.items():
        check_ports(name, latch, ends, world.objects)
    if latches and engine == "closed_form":
        raise ValueError("key 'engine.name': closed_form has no contact, which latches need")


class PlantSpec(Record):
    """A whole plant; its defaults are a world without wind."""

    seed: Seed
    rates: LoopRates
    engine: EngineName = Field(default_factory=default_engine)
    world: World = World()  # with the friction that counts
    wind: Wind = Wind()
    has_drag: Flag = False
    vehicles: Annotated[tuple[PlantVehicle, ...], Field(min_length=1)]
    latches: dict[LatchName, Latch] = {}
    modules: PlantJoints | None = None  # joints that a coordinator opens and closes
    gripper: GripperSpec | None = None  # at the tip of the first arm
    grips_in_step: Flag = False  # whether every state is answered on gripper/command, too
    identified: IdentifiedSpec | None = None  # in place of engine and propulsion

    @model_validator(mode="after")
    def _latches_fit(self) -> Self:
        ends = {vehicle.name: vehicle.platform.ends for vehicle in self.vehicles}
        check_latches(self.latches, ends, self.world, self.engine)
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [vehicle.name for vehicle in self.vehicles]
        if len(set(names)) < len(names):
            raise ValueError(f"key 'vehicles': names must differ, are {', '.join(names)}")
        for i, vehicle in enumerate(self.vehicles):
            self.rates.check_autopilot(vehicle.autopilot, f"vehicles.{i}.autopilot")
            self.rates.check_delays(vehicle.faults, f"vehicles.{i}.faults")
        return self

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """The plant of YAML text, or of the file whose path `text` is; `source` names it in errors.

        Raises:
            BadInput: no such file, no YAML, or anything unknown, missing or impossible.
        """
        if "\n" not in text:
            source, text = text, read_text(Path(text))
        return validate(cls, parse_mapping(text, source=source), source=source)

    def yaml(self) -> str:
        """YAML text from which `read` makes an equal plant, bit for bit."""
        return yaml_text(self.model_dump(mode="json"))

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return 1.0 / self.rates.control_hz

    @property
    def start(self) -> Array:
        """(1, bodies, 13) state rows of all vehicles at t = 0."""
        return np.array([row for vehicle in self.vehicles for row in vehicle.start])[None]

    @property
    def start_rpm(self) -> list[Array]:
        """(N, 4) rotor speeds of each vehicle at t = 0 [rpm]."""
        return [np.array(vehicle.start_rpm) for vehicle in self.vehicles]

    def rng(self, source: str) -> np.random.Generator:
        """The generator of a source of noise, such as ``gusts``, as a flight begins with it."""
        return stream(self.seed, source)
