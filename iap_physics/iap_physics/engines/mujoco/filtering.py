# SPDX-License-Identifier: BSD-3-Clause
"""Which geoms a shape needs, so that each two surfaces that can touch do so once, with what counts between the two.

Two of MuJoCo's geoms touch where the type of one is in the affinity of the other, and the one of higher priority says
what counts. Surfaces stand in an order. A shape has one geom for each different `SurfaceContact` with the surfaces
before its own, whose affinity names those surfaces; what is alike shares a geom. The first one's type is its own
surface's bit, by which later ones find it, and which its affinity names, too, where a surface touches itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from iap_description.errors import BadInput
from iap_description.geometry.shapes import Surface
from iap_physics.engines.mujoco.surfaces import SurfaceContact

BITS = 31  # of MuJoCo's masks


class SurfaceKind(NamedTuple):
    """A surface of what moves freely, or of what does not, which touches nothing but the former."""

    surface: Surface
    moves_freely: bool


@dataclass(frozen=True)
class Extent:
    """Where there is a kind.

    Attributes:
        pieces: number of shapes.
        parts: that they are on; shapes of one rigid part never touch each other.
    """

    pieces: int
    parts: frozenset[Any]


class GeomRole(NamedTuple):
    """A geom that stands for a shape, in MuJoCo's terms."""

    contact: SurfaceContact
    type: int
    affinity: int
    priority: int


def roles(kinds: Mapping[SurfaceKind, Extent]) -> dict[SurfaceKind, list[GeomRole]]:
    """The geoms that each shape of a kind has, one at least.

    Raises:
        BadInput: there are more kinds than MuJoCo's masks can tell apart.
    """
    if len(kinds) > BITS:
        raise BadInput(
            f"engine 'mujoco': tells {BITS} surfaces apart, what moves freely from what does not,"
            f" and here are {len(kinds)}"
        )
    order = _ordered(kinds)
    groups = {kind: _alike(kind, order[: k + 1], kinds) for k, kind in enumerate(order)}
    met = {other for each in groups.values() for others in each.values() for other in others}
    bits = {kind: 1 << k if kind in met else 0 for k, kind in enumerate(order)}
    found = {}
    for k, kind in enumerate(order):
        affinities = {
            contact: sum(bits[other] for other in others)
            for contact, others in groups[kind].items()
        } or {SurfaceContact.of(kind.surface, kind.surface): 0}
        found[kind] = [
            GeomRole(contact, 0 if i else bits[kind], affinity, k)
            for i, (contact, affinity) in enumerate(affinities.items())
        ]
    return found


def _ordered(kinds: Mapping[SurfaceKind, Extent]) -> list[SurfaceKind]:
    """Kinds, last those of which few more geoms are needed."""
    left = list(kinds)
    order: list[SurfaceKind] = []

    def cost(kind: SurfaceKind) -> tuple[int, int]:
        pieces = kinds[kind].pieces
        return pieces * (len(_alike(kind, left, kinds)) - 1), pieces

    while left:
        last = min(left, key=cost)
        left.remove(last)
        order.insert(0, last)
    return order


def _alike(
    kind: SurfaceKind, others: Sequence[SurfaceKind], kinds: Mapping[SurfaceKind, Extent]
) -> dict[SurfaceContact, list[SurfaceKind]]:
    """Those that a kind touches, itself first, by what counts between the two."""
    found: dict[SurfaceContact, list[SurfaceKind]] = {}
    for other in sorted(others, key=lambda other: other != kind):
        if (kind.moves_freely or other.moves_freely) and (
            len(kinds[kind].parts | kinds[other].parts) > 1
        ):
            contact = SurfaceContact.of(kind.surface, other.surface)
            found.setdefault(contact, []).append(other)
    return found
