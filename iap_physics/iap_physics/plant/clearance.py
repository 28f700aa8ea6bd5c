# SPDX-License-Identifier: BSD-3-Clause
"""The room that vehicles need at the start of a flight."""

from collections.abc import Iterable, Sequence

from iap_description.errors import BadInput
from iap_physics.engines.engine import OBJECT, Contact
from iap_physics.plant.plant_spec import PlantSpec

MAX_OVERLAP = 1e-3  # of a vehicle with an object at the start [m]


def check_clearance(contacts: Iterable[Contact], rows: Sequence[slice], spec: PlantSpec) -> None:
    """Refuse vehicles that start inside an object of the world, or folded into themselves.

    Args:
        contacts: at the start.
        rows: of the state, of each vehicle.
        spec: of the plant.

    Raises:
        BadInput: naming vehicle and object, or the parts of the vehicle.
    """
    owner = [number for number, each in enumerate(rows) for _ in range(each.start, each.stop)]
    for contact in contacts:
        low, row = sorted((contact.body_a, contact.body_b))
        if contact.distance > -MAX_OVERLAP or row < 0 or OBJECT < low < 0:
            continue
        vehicle, overlap = spec.vehicles[owner[row]], -1e3 * contact.distance
        if low >= 0 and owner[low] == owner[row]:
            bodies, first = vehicle.assembly.bodies, rows[owner[row]].start
            raise BadInput(
                f"vehicle '{vehicle.name}' starts with {bodies[row - first].name}"
                f" {overlap:.0f} mm inside {bodies[low - first].name}: check"
                " the attitude at its reference's start and platform.joints"
            )
        if low < 0:
            raise BadInput(
                f"vehicle '{vehicle.name}' starts {overlap:.0f} mm inside the object"
                f" '{list(spec.world.objects)[OBJECT - low]}': check its tool, its reference's start and"
                " world.objects"
            )
