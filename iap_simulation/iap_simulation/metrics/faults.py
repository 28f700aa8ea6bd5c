# SPDX-License-Identifier: BSD-3-Clause
"""The faults that struck in a flight, as metrics.json has them."""

from collections.abc import Sequence
from typing import Any

from iap_description.vehicles.faults import has_come
from iap_io.runs.run_meta import VehicleMeta


def struck(vehicles: Sequence[VehicleMeta], t: float) -> list[dict[str, Any]]:
    """The faults that had struck by a time [s], in their order; with what the controller was told, if it was."""
    return sorted(
        (
            _entry(vehicle, i)
            for vehicle in vehicles
            for i, fault in enumerate(vehicle.faults)
            if has_come(fault.at, t)
        ),
        key=lambda entry: float(entry["t_s"]),
    )


def _entry(vehicle: VehicleMeta, number: int) -> dict[str, Any]:
    fault = vehicle.faults[number]
    known = bool(getattr(fault, "known", False))
    entry = {"t_s": fault.at, "vehicle": vehicle.name, "fault": str(fault), "known": known}
    loss = next((each for each in vehicle.losses if known and each.at == fault.at), None)
    if loss is not None:
        told = {"hover_load": loss.hover_load, "can_carry": loss.can_carry, "told": loss.text}
        entry |= told
    return entry
