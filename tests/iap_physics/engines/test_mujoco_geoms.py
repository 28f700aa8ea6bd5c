# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of MuJoCo's geoms that meet, and the parameters that count between them."""

from itertools import product

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.geometry.shapes import Surface
from iap_physics.engines.make import is_installed

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco.geoms import Extent, SurfaceKind, roles
    from iap_physics.engines.mujoco.surfaces import SurfaceContact

WORLD, PARTS = "world", ("one", "two", "three")


def surface(friction, restitution=0.0, stiffness=None):
    damping = None if stiffness is None else 10.0
    return Surface(
        friction=friction, restitution=restitution, stiffness=stiffness, damping=damping
    )


def drawn(seed):
    """Up to eight kinds of which some are alike in part."""
    rng, kinds = np.random.default_rng(seed), {}
    for _ in range(rng.integers(1, 9)):
        made = surface(
            float(rng.choice([0.0, 0.4, 0.8])),
            float(rng.choice([0.0, 0.5])),
            (None, 1e3)[rng.integers(2)],
        )
        is_free = bool(rng.integers(2))
        own = rng.choice(PARTS, size=rng.integers(1, 4), replace=False).tolist()
        parts = frozenset(own if is_free else [WORLD])
        kinds[SurfaceKind(made, is_free)] = Extent(int(rng.integers(1, 40)), parts)
    return kinds


def meetings(a, b):
    """Parameters of each contact between geoms of two shapes."""
    found = []
    for first, second in product(a, b):
        if first.type & second.affinity or second.type & first.affinity:
            if first.priority == second.priority:
                assert first.contact == second.contact
            found.append(max(first, second, key=lambda role: role.priority).contact)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_shapes_that_can_touch_do_so_once_with_what_counts_between_them(seed):
    kinds = drawn(seed)
    found = roles(kinds)
    for a, b in product(kinds, kinds):
        can_touch = len(kinds[a].parts | kinds[b].parts) > 1 and (a.moves_freely or b.moves_freely)
        expected = [SurfaceContact.of(a.surface, b.surface)] if can_touch else []
        assert meetings(found[a], found[b]) == expected


def test_alike_surfaces_share_a_geom():
    """As a vehicle over a ground, both of two surfaces, and two vehicles."""
    ground, body = SurfaceKind(surface(0.8), False), SurfaceKind(surface(0.4), True)
    other = SurfaceKind(surface(0.8), True)
    found = roles(
        {
            body: Extent(17, frozenset(["hub"])),
            other: Extent(15, frozenset(["one", "two"])),
            ground: Extent(1, frozenset([WORLD])),
        }
    )
    assert {kind: len(each) for kind, each in found.items()} == {body: 1, other: 1, ground: 1}


def test_what_touches_nothing_has_no_masks():
    ((role,),) = roles({SurfaceKind(surface(0.5), True): Extent(3, frozenset(["hub"]))}).values()
    assert (role.type, role.affinity) == (0, 0)


def test_there_are_only_so_many_masks():
    kinds = {
        SurfaceKind(surface(0.01 * k), True): Extent(1, frozenset([PARTS[k % 2]]))
        for k in range(32)
    }
    with pytest.raises(BadInput, match="'mujoco': tells 31 surfaces apart, .* here are 32"):
        roles(kinds)
