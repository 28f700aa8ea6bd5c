# SPDX-License-Identifier: BSD-3-Clause
"""The specification of all sensors of a simulation: the parameter `rig` of their nodes."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from iap_description.config.plain_yaml import parse_mapping, read_yaml, yaml_text
from iap_description.config.record import Record, validate
from iap_description.config.values import Hertz, Seed
from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import SensorFault
from iap_description.vehicles.platform import Platform
from iap_description.world.world import World
from iap_sensors.cameras.make import RendererName
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.mounted_sensors import Displacement
from iap_sensors.mounted.sensor_presets import Name, SensorsSpec


class RigVehicle(Record):
    """A vehicle with its sensors."""

    name: str
    platform: Platform
    sensors: SensorsSpec
    faults: tuple[SensorFault, ...] = ()
    displaced: Displacement = (
        Displacement()
    )  # of what is on mounts, besides inertial units and cameras

    @property
    def assembly(self) -> Assembly:
        """Its bodies and joints."""
        return Assembly.of(self.platform, self.name)


class RigSpec(Record):
    """The sensors of all vehicles, the cameras of the world, and what they measure.

    The order of vehicles, and of the world's objects, is that of their states.
    """

    seed: Seed
    physics_hz: Hertz
    control_hz: Hertz
    world: World
    renderer: RendererName
    cameras: dict[Name, CameraSpec]  # that stand in the world
    vehicles: Annotated[tuple[RigVehicle, ...], Field(min_length=1)]

    @classmethod
    def read(cls, path_or_text: str, *, source: str) -> Self:
        """A rig out of YAML text, or out of the file of a path; `source` names it in errors.

        Raises:
            BadInput: there is none, or anything in it is unknown, missing or impossible.
        """
        if not path_or_text:
            raise BadInput(f"{source}: a rig is needed, as YAML text or as the path of a file")
        is_text = "\n" in path_or_text
        tree = (
            parse_mapping(path_or_text, source=source)
            if is_text
            else read_yaml(Path(path_or_text))
        )
        return validate(cls, tree, source=source if is_text else path_or_text)

    @property
    def text(self) -> str:
        """The rig as YAML text, from which `read` makes an equal one."""
        return yaml_text(self.model_dump(mode="json"))
