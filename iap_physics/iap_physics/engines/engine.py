# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of physics engines: bodies, joints and wrenches; no rotors, no controllers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput, IapError
from iap_description.math import so3
from iap_description.states import Q
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.arm_motors import ArmMotors

WORLD = -1  # as a body: the ground, or what stands in the scene
OBJECT = -2  # the world's first object; its k-th is OBJECT - k
LAST_LINK = -10_000  # of the first vehicle's arm; of the k-th LAST_LINK - k

JOINT_FORCE = 1e5  # that a joint added in flight bears unless something else is said [N]
ADDED_TYPES = ("spherical", "fixed")  # of joints added in flight
BOUND = 1e4  # a coordinate or velocity beyond this is divergence [m, m/s, rad/s]

# Status of one world of a batch; only running worlds advance, the others keep their last state.
RUNNING = 0
DIVERGED = 1  # a state would no longer be finite
INVALID_COMMAND = 2  # a command held NaN or infinity
UPSIDE_DOWN = 3  # whoever watches its flight has ended it, as for all that follow
TOO_FAR = 4  # from its reference
# Those of contact, behind the outcomes of tasks (`iap_simulation.tasks.outcomes`).
HIT_GROUND = 18
HIT_OBSTACLE = 19
AIRCRAFT_HIT = 20  # an object
FOLDED = 21  # two of its own bodies have collided
CONTACT_LOST = 22  # for good, under wrench control


@dataclass(frozen=True)
class Contact:
    """One contact point of the last step; bodies are state rows, `WORLD`, or objects of the world."""

    body_a: int
    body_b: int
    position_W: tuple[float, float, float]  # on body a, when the step began [m]
    normal_W: tuple[float, float, float]  # from b towards a
    distance: float  # [m], negative when the bodies overlap
    force_W: tuple[float, float, float]  # of b on a, normal and friction [N]


@dataclass(frozen=True)
class AddedJoint:
    """A joint added in flight, see `Engine.add_joint`; q_AB (4,) is the attitude of b in a that a fixed one keeps."""

    bodies: tuple[int, int]
    p_AJ_A: Array
    p_BJ_B: Array
    q_AB: Array
    type: str
    max_force: float

    @classmethod
    def of(
        cls,
        x: Array,
        bodies: tuple[int, int],
        places: tuple[Array, Array],
        type: str,
        max_force: float,
        q_AB: Array | None = None,
    ) -> Self:
        """Between bodies whose states are rows of x (bodies, 13); without `q_AB`, in the attitude that they have.

        Raises:
            IapError: there is no such type.
        """
        if type not in ADDED_TYPES:
            raise IapError(f"add_joint: type '{type}': {' or '.join(ADDED_TYPES)} is expected")
        a, b = bodies
        if q_AB is not None:
            return cls(
                bodies, np.array(places[0]), np.array(places[1]), np.array(q_AB), type, max_force
            )
        q_WB = so3.IDENTITY if b == WORLD else x[b, Q]
        q_AB = so3.multiply(so3.conjugate(x[a, Q]), q_WB)
        return cls(bodies, np.array(places[0]), np.array(places[1]), q_AB, type, max_force)


class Engine(Protocol):
    """Bodies of one or more vehicles in one world, or of a batch of equal worlds.

    State rows are those of `iap_description.states`, (B, bodies, 13), the vehicles' bodies one
    after another.

    Attributes:
        batch: number B of worlds.
        t: time since all worlds started [s].
        status: (B,) status of every world: `RUNNING`, or why it stands still.
        arms: joints and motors of the vehicles' arms, by the vehicles' numbers; a reset brings them home.
    """

    batch: int
    t: float
    status: Integers
    arms: Mapping[int, ArmMotors] = MappingProxyType({})

    def load(self, world: World, assemblies: Sequence[Assembly], x: Array | None = None) -> None:
        """Build the world anew.

        Args:
            world: what is in it besides the vehicles.
            assemblies: of the vehicles.
            x: (B, bodies, 13) their states, as of `reset`; None: they rest at the origin.
        """

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start worlds anew; a reset run equals a fresh one bit for bit.

        Args:
            x: (worlds, bodies, 13) their states.
            worlds: their indices, or a mask (B,); None for all of them, which sets t to 0 as well.

        Raises:
            BadInput: the states are not finite or do not fit the joints, or there is no such world.
        """

    def snapshot(self) -> object:
        """Everything that `restore` needs to go on from here, joints added in flight with their handles."""

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot that this engine took since its last `load` or `reset`.

        Raises:
            IapError: the snapshot is another's.
        """

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrench on every body for the next step.

        Args:
            wrenches_W: (B, bodies, 6) force [N] and torque about the body's CoM [N m], world axes,
                gravity excluded.
        """

    def step(self, dt: float) -> None:
        """Advance the running worlds by `dt` [s]; the wrenches count for this step only.

        A world of a batch whose state would no longer be finite gets the status ``DIVERGED`` and keeps
        its last state.

        Raises:
            FlightFailed: the only world of an engine diverges or has diverged (outcome ``diverged``).
        """

    def state(self) -> Array:
        """(B, bodies, 13) the present states, a view that the next step overwrites."""

    def contacts(self) -> list[Contact]:
        """Contacts of the last step; empty for an engine without contact.

        Right after `reset` they tell, without forces, what touches or overlaps at the start.
        """

    def contact_wrench(self, row: int) -> Array:
        """(6,) force [N] and torque about its CoM [N m] of contacts on a body but for its own vehicle's, world axes.

        What an arm's links touch acts on its central body.

        They are those of the last step, which act where the body was when that step began.

        Args:
            row: of the body in the state.
        """

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the world's objects."""

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray, (rays, 3) to (rays, 3), at its first hit; 1 if none.

        Args:
            starts_W: where rays begin [m].
            ends_W: where they end [m].
            world_only: rays go through vehicles.
        """

    def add_joint(
        self,
        body_a: int,
        body_b: int,
        p_AJ_A: Array,
        p_BJ_B: Array,
        *,
        type: str = "spherical",
        max_force: float = JOINT_FORCE,
        q_AB: Array | None = None,
    ) -> int:
        """Join two bodies at a point while running; returns a handle.

        Args:
            body_a: row of a body.
            body_b: row of another, or `WORLD`.
            p_AJ_A: (3,) the point in body a's frame [m].
            p_BJ_B: (3,) the point in body b's frame, or in the world [m].
            type: ``spherical``, or ``fixed``, which keeps the attitude that the bodies have to each other now.
            max_force: to more than this the joint yields [N].
            q_AB: (4,) attitude of b in a that a fixed joint brings about; None: that of now.

        Raises:
            IapError: there is no such type, or no room for one more.
        """

    def remove_joint(self, handle: int) -> None:
        """Undo `add_joint`."""

    def let_pass(self, body_a: int, body_b: int, *, passes: bool) -> None:
        """Let two bodies of different vehicles, by their rows, go through each other, or touch again.

        As joints added in flight, this is part of snapshots, and over after a reset.
        """

    def joint_wrench(self, handle: int) -> Array:
        """(6,) force [N], and torque about the joint [N m], of a joint added in flight on its body a in the last step.

        World axes; zero before the first step, and the torque of a spherical joint is zero.

        Raises:
            IapError: there is no such joint.
        """

    def grip(
        self,
        item: int,
        vehicle: int,
        p_OJ_O: Array,
        p_LJ_L: Array,
        q_OL: Array,
        max_force: float,
    ) -> int:
        """Fix an object of the world to the last link of an arm, as `add_joint` joins bodies; returns a handle.

        Args:
            item: number of the object, one that moves freely; body a of the joint.
            vehicle: number of the vehicle with the arm.
            p_OJ_O: (3,) the joint's place in the object's frame O [m].
            p_LJ_L: (3,) in the frame L of the last link [m].
            q_OL: (4,) attitude of L in O that it keeps.
            max_force: to more than this the joint yields [N].
        """
        raise IapError("grip: this engine has no arms")

    def put_arm(self, vehicle: int, q: Array, v: Array) -> None:
        """Set an arm's joint coordinates and velocities, (n,) each, in a world that is no batch."""
        raise IapError(f"vehicle {vehicle} has no arm in this engine")

    def close(self) -> None:
        """Give back what the engine holds."""


def world_indices(worlds: ArrayLike | None, batch: int) -> Integers:
    """Indices of chosen worlds.

    Args:
        worlds: indices, or a mask (batch,); None for all worlds.
        batch: number of worlds.

    Raises:
        BadInput: there is no such world, or one is given twice.
    """
    if worlds is None:
        return np.arange(batch)
    indices = np.asarray(worlds)
    if indices.dtype == np.int64 and indices.ndim == 1 and _rises(indices, batch):
        return indices
    if indices.dtype == bool and indices.shape == (batch,):
        return np.flatnonzero(indices)
    is_index = indices.ndim == 1 and (
        indices.size == 0 or np.issubdtype(indices.dtype, np.integer)
    )
    if not is_index or (indices.size and not 0 <= indices.min() <= indices.max() < batch):
        raise BadInput(
            f"worlds: indices below {batch} or a mask of {batch} expected, got {worlds}"
        )
    if len(set(indices.tolist())) < len(indices):
        raise BadInput(f"worlds: one is given twice in {worlds}")
    return indices.astype(np.int64)


def _rises(indices: Integers, batch: int) -> bool:
    """A quick look that is enough for most: indices below `batch` that rise, of which none comes twice."""
    inside = len(indices) and 0 <= indices[0] and indices[-1] < batch
    return bool(inside and (indices[1:] > indices[:-1]).all())
