# SPDX-License-Identifier: BSD-3-Clause
"""What a vehicle carries to localise itself with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from iap_bringup.estimating.rows import Mount
from iap_bringup.localizing.carried import Carried, carried_on, centre_of, craft_of
from iap_bringup.localizing.data import CentreData, CraftData, crew_of
from iap_bringup.records.sensor_meta import ImuMeta, SensorMeta
from iap_bringup.vehicle import Vehicle
from iap_description.assembly import Assembly
from iap_description.errors import BadInput
from iap_estimation.virpo.crew import Crew


@dataclass(frozen=True, eq=False)
class Equipment:
    """The sensors of one vehicle that count.

    Attributes:
        name: of the vehicle.
        bodies: number of its bodies.
        rows: index of each aircraft's body.
        carried: sensors of each aircraft.
        crafts: the aircraft as data sets have them.
        mounts: of their inertial units.
        central: inertial unit of the central body; None where there is no such body.
        centre: the central body; None where there is none.
        gravity: [m/s^2].
    """

    name: str
    bodies: int
    rows: list[int]
    carried: tuple[Carried, ...]
    crafts: tuple[CraftData, ...]
    mounts: tuple[Mount, ...]
    central: ImuMeta | None
    centre: CentreData | None
    gravity: float

    @classmethod
    def of(cls, vehicle: Vehicle, sensors: Sequence[SensorMeta], gravity: float) -> Self:
        """Of a vehicle, whose sensors are among those given.

        Raises:
            BadInput: an aircraft does not see or does not feel.
        """
        assembly = Assembly.of(vehicle.platform, vehicle.name)
        names = [body.name for body in assembly.bodies]
        carried = [_of_aircraft(assembly, body, sensors) for body in assembly.aircraft]
        pairs = zip(assembly.aircraft, carried, strict=True)
        crafts = tuple(craft_of(names[body], its, vehicle.name) for body, its in pairs)
        on_centre = carried_on(f"{vehicle.name}/{names[0]}", sensors)
        central = on_centre.imu if assembly.joints and on_centre is not None else None
        d = assembly.p_PB_P[list(assembly.aircraft)]
        mounts = (Mount(np.array(its.imu.p_BS_B), np.array(its.imu.q_BS)) for its in carried)
        return cls(
            vehicle.name,
            len(names),
            list(assembly.aircraft),
            tuple(carried),
            crafts,
            tuple(mounts),
            central,
            centre_of(d, central) if assembly.joints else None,
            gravity,
        )

    def crew(self, pixels: float) -> Crew:
        """As an estimator knows it; `pixels` is the standard deviation of a tracked coordinate."""
        return replace(crew_of(self.crafts, self.centre, pixels), gravity=self.gravity)


def _of_aircraft(assembly: Assembly, body: int, sensors: Sequence[SensorMeta]) -> Carried:
    name = assembly.bodies[body].name
    found = carried_on(f"{assembly.name}/{name}", sensors)
    if found is None or found.cameras is None:
        raise BadInput(
            f"vehicle '{assembly.name}': {name} has no inertial unit, or not one stereo pair"
        )
    return found
