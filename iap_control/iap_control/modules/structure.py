# SPDX-License-Identifier: BSD-3-Clause
r"""Structures of modules that are joined rigidly: their graph of joints, their positions and their leader.

A structure S has its origin at the mean of its modules' CoMs (GCoS, beatle (18)) and the axes that all its modules
have. Joints are the edges of a graph, directed from module a to module b, with the incidence matrix B (n, m): a column
for each joint, -1 in the row of a and 1 in that of b. Chains, branches and closed loops are all of them graphs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput

FIT = 1e-6  # by which a closed loop of joints may miss itself [m]
NEARER = 1e-9  # from the centre, to lead in place of a module before [m]


class ModuleJoint(NamedTuple):
    """A joint of two modules.

    Attributes:
        a: number of a module.
        b: of the other one.
        d_ab_S: from the CoM of a to that of b, when joined [m].
    """

    a: int
    b: int
    d_ab_S: tuple[float, float, float]

    @property
    def modules(self) -> tuple[int, int]:
        """Numbers of both."""
        return self.a, self.b

    def other(self, module: int) -> int:
        """Number of the module that this one is joined to."""
        return self.b if module == self.a else self.a

    def way_from(self, module: int) -> Array:
        """(3,) from a module of it to the other one [m]."""
        return np.array(self.d_ab_S) if module == self.a else -np.array(self.d_ab_S)


@dataclass(frozen=True, eq=False)
class Structure:
    """Modules that are joined to each other, or a single one.

    Attributes:
        modules: their numbers, ascending.
        joints: their names.
        offsets_S: (n, 3) d_i, from the GCoS to each module's CoM [m].
        joints_S: (m, 3) the joints, halfway between the CoMs [m].
        incidence: (n, m) B.
        leader: number of the module nearest the centre, of equals one that led before, else the first: index
            (n - 1) // 2 of a chain.
        obeys: (n,) whether each module does; a lost one leads only where all are lost.
    """

    modules: tuple[int, ...]
    joints: tuple[str, ...]
    offsets_S: Array
    joints_S: Array
    incidence: Array
    leader: int
    obeys: Booleans

    @classmethod
    def of(
        cls,
        joints: Mapping[str, ModuleJoint],
        module: int,
        lost: Collection[int] = frozenset(),
        led: Collection[int] = frozenset(),
    ) -> Self:
        """The structure that a module belongs to.

        Args:
            joints: that hold, of all structures.
            module: its number.
            lost: numbers of modules that no longer obey.
            led: numbers of modules that have led structures so far.

        Raises:
            BadInput: a closed loop does not fit itself.
        """
        positions = _positions(joints, module)
        modules = tuple(sorted(positions))
        joined = {name: joint for name, joint in joints.items() if joint.a in positions}
        offsets = np.array([positions[each] for each in modules])
        offsets -= offsets.mean(axis=0)
        row = {each: i for i, each in enumerate(modules)}
        incidence = np.zeros((len(modules), len(joined)))
        halfway = np.zeros((len(joined), 3))
        for k, joint in enumerate(joined.values()):
            incidence[row[joint.a], k], incidence[row[joint.b], k] = -1.0, 1.0
            halfway[k] = 0.5 * (offsets[row[joint.a]] + offsets[row[joint.b]])
        obeys = np.array([each not in lost for each in modules])
        has_led = np.array([each in led for each in modules])
        leader = modules[_nearest(offsets, obeys if obeys.any() else ~obeys, has_led)]
        return cls(modules, tuple(joined), offsets, halfway, incidence, leader, obeys)

    @cached_property
    def laplacian_inverse(self) -> Array:
        """(n, n) pseudo-inverse of B B^T."""
        laplacian = self.incidence @ self.incidence.T
        return np.asarray(np.linalg.pinv(laplacian, hermitian=True), dtype=float)

    @cached_property
    def differences_inverse(self) -> Array:
        """(n, m) pseudo-inverse of B^T, from differences across joints to potentials of modules."""
        return np.asarray(np.linalg.pinv(self.incidence.T), dtype=float)

    @property
    def connectivity(self) -> float:
        """Least eigenvalue of B B^T but for the zero of what is common to all: 2 of two, 0.15 of eight in a chain."""
        if len(self.modules) == 1:
            return 0.0
        return float(np.linalg.eigvalsh(self.incidence @ self.incidence.T)[1])

    def offset_S(self, module: int) -> Array:
        """(3,) d_i of a module by its number [m]."""
        d_S: Array = self.offsets_S[self.modules.index(module)]
        return d_S


def structures(
    joints: Mapping[str, ModuleJoint],
    modules: Sequence[int],
    lost: Collection[int] = frozenset(),
    led: Collection[int] = frozenset(),
) -> list[Structure]:
    """All structures that modules form by the joints that hold, single ones among them; see `Structure.of`."""
    out: list[Structure] = []
    for module in modules:
        if not any(module in each.modules for each in out):
            out.append(Structure.of(joints, module, lost, led))
    return out


def _nearest(offsets_S: Array, candidates: Booleans, has_led: Booleans) -> int:
    """Row of the module nearest the centre among candidates (n,): of equals one that has led, else the first."""
    distances = np.where(candidates, np.linalg.norm(offsets_S, axis=1), np.inf)
    equals = distances <= distances.min() + NEARER
    return int(np.argmax(equals & has_led if (equals & has_led).any() else equals))


def _positions(joints: Mapping[str, ModuleJoint], start: int) -> dict[int, Array]:
    """Positions (3,) of all modules that can be reached from one, relative to it [m].

    Raises:
        BadInput: two ways lead to different positions.
    """
    positions, open_ends = {start: np.zeros(3)}, [start]
    while open_ends:
        module = open_ends.pop()
        for name, joint in joints.items():
            if module not in joint.modules:
                continue
            other, position = joint.other(module), positions[module] + joint.way_from(module)
            if other not in positions:
                positions[other] = position
                open_ends.append(other)
            elif np.abs(positions[other] - position).max() > FIT:
                gap = float(np.abs(positions[other] - position).max())
                raise BadInput(
                    f"joint '{name}': a closed loop of joints misses itself by {gap:.3g} m"
                )
    return positions
