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
    from iap_physics.engines.mujoco.surfaces import BOND, BOND_R, SurfaceContact

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


def test_friction_and_restitution_are_geometric_means_and_softness_lies_in_series():
    soft = surface(0.9, 0.25, 1000.0)
    softer = Surface(friction=0.4, restitution=1.0, stiffness=3000.0, damping=7.0)
    both = SurfaceContact.of(soft, softer)
    assert (both.friction, both.restitution) == pytest.approx((0.6, 0.5))
    assert (both.stiffness, both.damping) == pytest.approx((750.0, 17.0))
    one = SurfaceContact.of(soft, surface(0.4))
    assert (one.stiffness, one.damping) == pytest.approx((1000.0, 10.0))
    none = SurfaceContact.of(surface(0.4), surface(0.4))
    assert (none.stiffness, none.damping) == (np.inf, 0.0)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_a_contact_in_mujocos_terms_is_the_spring_and_damper_at_the_end_of_a_step(dt):
    """See the module's text: 1/R = h (h K + B), b = (1 + e) / h, k = K / (h (h K + B)), d = 1 / (1 + R)."""
    damper = dt * (dt * 5000.0 + 30.0)
    (stiffness, damping), d = SurfaceContact(0.5, 0.25, 5000.0, 30.0).solver(dt)
    assert d == pytest.approx(1.0 / (1.0 + 1.0 / damper))
    assert stiffness == pytest.approx(-5000.0 / damper * d)
    assert damping == pytest.approx(-1.25 / dt * d)


def test_a_rigid_contact_takes_a_tenth_of_an_overlap_away_in_a_step_and_bonds_are_stiffer():
    rigid = SurfaceContact(0.5, 0.0, np.inf, 0.0)
    (stiffness, damping), d = rigid.solver(2e-3)
    assert d == pytest.approx(1.0 / 1.1)
    assert (stiffness, damping) == pytest.approx((-0.1 / 4e-6 * d, -500.0 * d))
    (_, _), d = BOND.solver(2e-3, BOND_R)
    assert d == 1.0 - 1e-4 and BOND.friction == BOND.restitution == 0.0
    assert rigid.solver(2e-3, 1e-9)[1] == 1.0 - 1e-4  # no more than MuJoCo takes
    assert rigid.solver(2e-3, 1e9)[1] == 1e-4


def test_kinds_that_need_the_most_geoms_come_first():
    """A wall of many shapes meets two bodies of unlike friction: the bodies' shapes are there twice, not the wall's."""
    wall = SurfaceKind(surface(0.5), False)
    bodies = [SurfaceKind(surface(0.1 * k), True) for k in (1, 2)]
    kinds = {wall: Extent(40, frozenset([WORLD]))}
    kinds |= {body: Extent(3, frozenset([PARTS[k]])) for k, body in enumerate(bodies)}
    found = roles(kinds)
    assert len(found[wall]) == 1
    pieces = sum(kinds[kind].pieces * len(each) for kind, each in found.items())
    assert pieces == 40 + 3 + 2 * 3
