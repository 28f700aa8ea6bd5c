# SPDX-License-Identifier: BSD-3-Clause
"""Record of modules in flight, at the rate of coordination."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_control.modules.exchange import JointState, ModuleRole
from iap_control.modules.joint_states import ROLES, STATES
from iap_description.arrays import Array
from iap_description.config.array_files import read_arrays
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, P, Q
from iap_io.runs.run_folder import write_file

STATE_NAMES = [state.value for state in STATES]
FILE = "modules.npz"


class ModulesInstant(NamedTuple):
    """State of m joints and n modules one control period after an instant of coordination.

    Attributes:
        t: time [s].
        states: (m,) of the joints' machines since that instant.
        roles: (n,) since then.
        joint_wrenches: (m, 6) on the follower about the joint's place, the leader's axes [N, N m].
        errors: (n, 6) from the references of that instant, see `error_of`.
        feed_forward: (n, 6) since then, own axes [N, N m].
        external: (n, 6) as each module's observer estimated at that instant, own axes [N, N m].
    """

    t: float
    states: Sequence[JointState]
    roles: Sequence[ModuleRole]
    joint_wrenches: Array
    errors: Array
    feed_forward: Array
    external: Array


class ModulesRecord:
    """Rows of one flight.

    Args:
        joints: their names.
        modules: how many there are.
    """

    def __init__(self, joints: Sequence[str], modules: int) -> None:
        self._joints = list(joints)
        shapes = _shapes(len(joints), modules)
        self._shapes = dict(zip(ModulesInstant._fields, shapes, strict=True))
        self._rows: dict[str, list[Array]] = {name: [] for name in self._shapes}

    def add(self, instant: ModulesInstant) -> None:
        """Record an instant; arrays are copied."""
        numbers = {
            "states": [STATES.index(each) for each in instant.states],
            "roles": [ROLES.index(each) for each in instant.roles],
        }
        for name, values in {**instant._asdict(), **numbers}.items():
            self._rows[name].append(np.array(values, float).reshape(self._shapes[name]))

    @property
    def columns(self) -> dict[str, Array]:
        """All rows by the names in `ModulesInstant`, times first: states and roles as numbers in `STATES`, `ROLES`."""
        return {
            name: np.array(rows, float).reshape(len(rows), *self._shapes[name])
            for name, rows in self._rows.items()
        }

    def write(self, folder: Path) -> None:
        """Write `columns`, and the names of joints and states, into a run folder.

        Raises:
            RecordingFailed: that is not possible.
        """
        names = {"joints": self._joints, "state_names": STATE_NAMES}
        arrays: dict[str, Any] = {**self.columns, **{k: np.array(v) for k, v in names.items()}}
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        write_file(folder / FILE, packed.getvalue())


def read_modules(path: Path) -> dict[str, Array]:
    """Arrays that `ModulesRecord.write` has written, by their names.

    Raises:
        BadInput: the file is damaged, or an array is missing or has another shape.
    """
    arrays = read_arrays(path, "a record of modules")
    expected = (*ModulesInstant._fields, "joints", "state_names")
    missing = [name for name in expected if name not in arrays]
    if missing:
        raise BadInput(f"{path}: array '{missing[0]}' is missing")
    rows, m, n = len(np.atleast_1d(arrays["t"])), arrays["joints"].size, _modules(arrays["roles"])
    shapes = zip(ModulesInstant._fields, _shapes(m, n), strict=True)
    for name, shape in shapes:
        if arrays[name].shape != (rows, *shape) or arrays[name].dtype.kind not in "fiu":
            raise BadInput(
                f"{path}: array '{name}': numbers of shape {(rows, *shape)} are expected"
            )
    for name in ("joints", "state_names"):
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "U" and arrays[name].size:
            raise BadInput(f"{path}: array '{name}': a row of texts is expected")
    for name, count in (("states", arrays["state_names"].size), ("roles", len(ROLES))):
        if not np.isin(arrays[name], np.arange(count)).all():
            raise BadInput(f"{path}: array '{name}': numbers from 0 to {count - 1} are expected")
    return arrays


def _modules(roles: Array) -> int:
    return roles.shape[1] if roles.ndim == 2 else 0


def _shapes(m: int, n: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of an instant's fields, of m joints and n modules."""
    return ((), (m,), (n,), (m, 6), (n, 6), (n, 6), (n, 6))


def error_of(x: Array, position_bias: Array, reference: Array) -> Array:
    """(6,) place [m] and rotation [rad] of a module from its reference, in the frame of its own estimate.

    Args:
        x: (13,) its true state; the white noise of its estimate does not count.
        position_bias: (3,) of its estimate [m].
        reference: (19+) row.
    """
    place = x[P] + position_bias - reference[REF_P]
    turn = so3.multiply(so3.conjugate(reference[REF_Q]), x[Q])
    return np.concatenate([place, so3.quaternion_log(turn)])
