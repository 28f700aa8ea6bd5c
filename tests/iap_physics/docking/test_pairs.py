# SPDX-License-Identifier: BSD-3-Clause
"""One pair of many that dock: its latch catches, damps, locks, gives way, and catches anew; momentum is kept."""

import numpy as np
import pytest
from docking_pairs import assemblies, latch, momentum, move, platform, start

from iap_description.states import P, V
from iap_description.vehicles.latch import PortFrame, approach
from iap_physics.docking.mechanism import Mechanism
from iap_physics.docking.pairs import PairBodies, PairContact, Pairs, Room, meet
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN, SPENT, LatchParameters

DT = 1e-3
BODY = assemblies()[0].bodies[0]
PORTS, SURFACE = platform().aircraft.ports, platform().aircraft.surface
MECHANISM = Mechanism.of(PORTS["probe"], PORTS["socket"], (SURFACE, SURFACE))
FRAMES = [PortFrame.of(PORTS[key], np.zeros(3)) for key in ("probe", "socket")]


class Pair:
    """The second of two pairs, weightless, moved by the semi-implicit Euler method; the first is far from docking."""

    def __init__(self, x, *, reach=MECHANISM.reach, **changes):
        self.all = Pairs.of(np.zeros((2, 2, 13)), np.zeros(2, np.int64))
        self.room, self.steps = Room.empty(), 0
        self.all.x[0], self.all.x[1] = start(depth=-5.0)[0], x[0]
        bodies = PairBodies.empty(2)
        bodies.mass[:], bodies.J[:] = BODY.mass, BODY.inertia
        bodies.J_inv[:] = np.linalg.inv(BODY.inertia)
        parameters = LatchParameters.of(latch(**changes))
        self.between = PairContact(bodies, MECHANISM._replace(reach=reach), parameters, 0.0)

    @property
    def x(self):
        return self.all.x[1]

    @property
    def phase(self):
        return int(self.all.phase[1])

    def step(self, count, pull=0.0):
        """Some steps in which the chaser is pulled back and the target forth [N]; phases (count,) and contact."""
        phases, touched = [], False
        for _ in range(count):
            self.room.wrenches[:] = 0.0
            self.room.wrenches[0, 1], self.room.wrenches[1, 1] = pull, -pull
            self.all.contact[:] = 0.0
            touched = meet(1, self.steps * DT, self.all, self.between, self.room, DT)
            move(self.x, self.room.wrenches, BODY, DT)
            self.steps += 1
            phases.append(self.phase)
        return phases, touched


def test_it_catches_damps_and_locks_and_tells_how_the_probe_came():
    pair = Pair(start(depth=0.112, aside=(0.003, 0.004), speed=0.3, turn=(0.0, 0.0, 0.03)))
    while pair.phase == OPEN:
        before = pair.x.copy()
        _, touched = pair.step(1)
    assert pair.phase == CAUGHT and touched
    t, *caught = pair.all.caught[1]
    assert t == pytest.approx((pair.steps - 1) * DT)
    probe = approach(before[1], before[0], *FRAMES)
    np.testing.assert_allclose(caught, [probe.depth, probe.radius, probe.angle, probe.closing])
    assert 0.115 <= probe.depth < 0.116 and probe.closing > 0.1
    assert pair.step(200)[0][-1] == LOCKED
    np.testing.assert_array_equal(pair.all.caught[1], [t, *caught])
    assert np.isnan(pair.all.caught[0]).all()  # of the other pair


def test_what_latch_and_contact_do_to_both_is_equal_and_opposite():
    pair = Pair(start(depth=0.112, aside=(0.003, 0.0), speed=0.3, turn=(0.0, 0.0, 0.02)))
    before = momentum(pair.x)
    phases, _ = pair.step(120)
    assert {CAUGHT, LOCKED} <= set(phases)
    np.testing.assert_allclose(momentum(pair.x), before, atol=2e-4)
    np.testing.assert_allclose(pair.x[0, V], pair.x[1, V], atol=0.05)


def test_a_lock_bears_what_pulls_and_tells_it():
    """Each pulled by 20 N: the lock bears these, and both stay."""
    pair = Pair(start(depth=0.116))
    pair.step(50)
    phases, _ = pair.step(100, pull=20.0)
    assert set(phases) == {LOCKED}
    np.testing.assert_allclose(pair.all.wrench[1, :3], [0.0, 20.0, 0.0], atol=0.05)
    np.testing.assert_allclose(pair.all.contact[1, :3], pair.all.wrench[1, :3])
    assert np.abs(pair.x[:, V]).max() < 1e-3


def test_a_lock_gives_way_to_more_and_catches_anew_only_what_has_left_it():
    pair = Pair(start(depth=0.116), max_force=30.0)
    pair.step(50)
    assert pair.step(20, pull=29.0)[0][-1] == LOCKED
    phases, _ = pair.step(3, pull=33.0)
    assert phases[-1] == SPENT
    pair.x[:, V] = 0.0
    assert set(pair.step(30)[0]) == {SPENT}
    phases, _ = pair.step(120, pull=2.0)
    assert phases[-1] == OPEN
    pair.x[:, V] = 0.0
    assert CAUGHT in pair.step(400, pull=-2.0)[0]


def test_nothing_touches_and_a_latch_is_open_beyond_the_reach_of_both_ports():
    x = start(depth=0.116)
    away = float(np.linalg.norm(x[0, 0, P] - x[0, 1, P]))
    for reach, phase in ((away + 0.01, CAUGHT), (away - 0.01, OPEN)):
        pair = Pair(x, reach=reach, damping=1.0)
        pair.all.phase[1] = CAUGHT
        phases, touched = pair.step(1)
        assert (phases == [OPEN], touched) == (phase == OPEN, phase == CAUGHT)
