# SPDX-License-Identifier: BSD-3-Clause
"""What was seen of modules in flight, at the rate of coordination."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from iap_control.modules.exchange import Role
from iap_control.modules.joint_machine import State
from iap_description import so3
from iap_description.arrays import Array
from iap_description.states import REF_P, REF_Q, P, Q
from iap_io.bags.bag_writer import RecordingFailed
from iap_physics.plant import Plant
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.vehicle import Vehicle

STATES = tuple(State)  # by their numbers in columns
ROLES = tuple(Role)  # by their numbers in columns
STATE_NAMES = [state.value for state in STATES]
FILE = "modules.npz"


@dataclass
class ModulesRecord:
    """Rows of one flight.

    Attributes:
        modules: in flight.
        vehicles: the modules.
    """

    modules: ModulesInFlight
    vehicles: Sequence[Vehicle]
    _rows: dict[str, list[Array]] = field(default_factory=dict)

    def watch(self, plant: Plant) -> None:
        """Take the present instant."""
        machines = self.modules.coordinator.machines
        borne, none = self.modules.joints.wrenches_S(), np.zeros(6)
        row = {
            "t": np.array(plant.t),
            "states": np.array([STATES.index(each.state) for each in machines.values()], float),
            "roles": np.array(
                [ROLES.index(each) for each in self.modules.coordinator.roles], float
            ),
            "joint_wrenches": np.array([borne.get(n, none) for n in machines]).reshape(-1, 6),
            "errors": np.array([self._error(plant, i) for i in range(len(self.vehicles))]),
            "feed_forward": self.modules.coordinator.feed_forward.wrenches_P.copy(),
            "external": self.modules.external_P.copy(),
        }
        for name, values in row.items():
            self._rows.setdefault(name, []).append(values)

    @property
    def columns(self) -> dict[str, Array]:
        """All rows, of m joints and n modules.

        Times t (T,) [s]; states (T, m), numbers of `STATES`; roles (T, n), numbers of
        `ROLES`; joint_wrenches (T, m, 6) on the follower about the joint's
        place, the leader's axes; errors (T, n, 6) of place [m] and rotation [rad] in the frame of each module's own
        estimate; feed_forward (T, n, 6), external (T, n, 6) as each module's observer tells, own axes [N, N m].
        """
        return {name: np.array(rows) for name, rows in self._rows.items()}

    def write(self, folder: Path) -> None:
        """Write `columns`, and the names of joints and states, into a run folder.

        Raises:
            RecordingFailed: that is not possible.
        """
        names = {"joints": list(self.modules.coordinator.machines), "state_names": STATE_NAMES}
        arrays: dict[str, Any] = {**self.columns, **{k: np.array(v) for k, v in names.items()}}
        try:
            np.savez(folder / FILE, **arrays)
        except OSError as error:
            raise RecordingFailed(
                f"{folder / FILE}: cannot be written: {error.strerror}"
            ) from error

    def _error(self, plant: Plant, i: int) -> Array:
        """(6,) of a module from its reference, with its bias but without the white noise of its estimate."""
        vehicle, x, row = self.vehicles[i], plant.state(i)[0, 0], self.modules.rows[i]
        place = x[P] + vehicle.sense.position_bias - row[REF_P]
        turn = so3.multiply(so3.conjugate(row[REF_Q]), x[Q])
        return np.concatenate([place, so3.quaternion_log(turn)])
