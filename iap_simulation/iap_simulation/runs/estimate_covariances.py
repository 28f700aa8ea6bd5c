# SPDX-License-Identifier: BSD-3-Clause
"""Covariances of the positions that vehicles' estimators give, looked at now and then."""

from collections.abc import Mapping

from iap_description.arrays import Array
from iap_simulation.flights.flight import Flight

PERIOD = 0.2  # between two looks, each of which marginalises an estimator's information [s]


class EstimateCovariances:
    """Covariances of a flight's estimates.

    Args:
        flight: that is flown.
    """

    def __init__(self, flight: Flight) -> None:
        self._navigators = flight.navigators
        self._bodies = [(each.name, each.bodies) for each in flight.meta.vehicles]
        self._looked, self._known = -1, dict[str, Array]()

    def at(self, t: float) -> Mapping[str, Array]:
        """(3, 3) of positions [m^2] by VEHICLE/BODY at a time [s]; the same mapping within `PERIOD`."""
        look = int(t / PERIOD)
        if look != self._looked and self._navigators:
            self._looked, self._known = look, {}
            for i, navigator in self._navigators.items():
                name, bodies = self._bodies[i]
                for row, covariance in navigator.covariances().items():
                    self._known[f"{name}/{bodies[row]}"] = covariance
        return self._known
