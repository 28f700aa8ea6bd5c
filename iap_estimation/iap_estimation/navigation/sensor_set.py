# SPDX-License-Identifier: BSD-3-Clause
"""The sensors by which a vehicle localises itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.errors import BadInput
from iap_description.sensors.sensor_info import ImuInfo, SensorInfo
from iap_description.vehicles.assembly import Assembly
from iap_estimation.navigation.data import AircraftData, CentreData, fleet_of
from iap_estimation.navigation.imu_mount import Mount
from iap_estimation.navigation.reading_adapter import (
    AircraftSensors,
    aircraft_data_of,
    carried_on,
    centre_of,
)
from iap_estimation.virpo.fleet import Fleet


@dataclass(frozen=True, eq=False)
class SensorSet:
    """The sensors of one vehicle that count.

    Attributes:
        name: of the vehicle.
        bodies: number of its bodies.
        rows: index of each aircraft's body.
        carried: sensors of each aircraft.
        aircraft: the aircraft as data sets have them.
        mounts: of their inertial units.
        central: inertial unit of the central body; None where there is no such body.
        centre: the central body; None where there is none.
        gravity: [m/s^2].
    """

    name: str
    bodies: int
    rows: list[int]
    carried: tuple[AircraftSensors, ...]
    aircraft: tuple[AircraftData, ...]
    mounts: tuple[Mount, ...]
    central: ImuInfo | None
    centre: CentreData | None
    gravity: float

    @classmethod
    def of(cls, assembly: Assembly, sensors: Sequence[SensorInfo], gravity: float) -> Self:
        """The sensor set of a vehicle.

        Args:
            assembly: the vehicle; its name and its bodies' are those of the sensors' parent frames.
            sensors: those of the vehicle; others may be among them.
            gravity: [m/s^2].

        Raises:
            BadInput: an aircraft has no stereo pair or no inertial unit.
        """
        names = [body.name for body in assembly.bodies]
        carried = [_of_aircraft(assembly, body, sensors) for body in assembly.aircraft]
        pairs = zip(assembly.aircraft, carried, strict=True)
        aircraft = tuple(
            aircraft_data_of(names[body], group, assembly.name) for body, group in pairs
        )
        on_centre = carried_on(f"{assembly.name}/{names[0]}", sensors)
        central = on_centre.imu if assembly.joints and on_centre is not None else None
        d = assembly.p_PB_P[list(assembly.aircraft)]
        mounts = (Mount(np.array(group.imu.p_BS_B), np.array(group.imu.q_BS)) for group in carried)
        return cls(
            assembly.name,
            len(names),
            list(assembly.aircraft),
            tuple(carried),
            aircraft,
            tuple(mounts),
            central,
            centre_of(d, central) if assembly.joints else None,
            gravity,
        )

    def fleet(self, pixels: float) -> Fleet:
        """As an estimator knows it; `pixels` is the standard deviation of a tracked coordinate."""
        return fleet_of(self.aircraft, self.centre, pixels, self.gravity)


def _of_aircraft(assembly: Assembly, body: int, sensors: Sequence[SensorInfo]) -> AircraftSensors:
    name = assembly.bodies[body].name
    found = carried_on(f"{assembly.name}/{name}", sensors)
    if found is None or found.cameras is None:
        raise BadInput(
            f"vehicle '{assembly.name}': {name} has no inertial unit, or not one stereo pair"
        )
    return found
