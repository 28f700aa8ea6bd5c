# SPDX-License-Identifier: BSD-3-Clause
"""The specification of an identified plant: its model, its noise, and where it starts."""

from iap_description.config.record import Record
from iap_description.config.values import Flag, NonNegative, Position, Real


class IdentifiedSpec(Record):
    """A plant of `iap_physics.identified.plant` in a flight.

    Attributes:
        file: name of the model, or the path of its YAML file.
        noise: half-width on joints and velocities in every step [rad, m/s, rad/s].
        static_inverse: whether commands become those at which the model holds the velocities that they ask for.
        position: of the platform at t = 0 [m].
        yaw: its heading there [rad].
        joints: coordinates of its arm there [rad].
    """

    file: str
    noise: NonNegative
    static_inverse: Flag
    position: Position
    yaw: Real
    joints: tuple[Real, Real, Real]
