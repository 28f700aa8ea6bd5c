# SPDX-License-Identifier: BSD-3-Clause
"""Flights of many worlds that end by what they touch, or by a contact that is lost for good."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.world.obstacles import Trees
from iap_physics.engines.engine import (
    AIRCRAFT_HIT,
    CONTACT_LOST,
    HIT_GROUND,
    HIT_OBSTACLE,
    RUNNING,
)
from iap_simulation.batch.contact_endings import ContactEndings


class Engine:
    """An engine of three worlds."""

    def __init__(self):
        self.touched, self.culprits = np.full(3, RUNNING), np.zeros(3, np.int64)

    def watch(self, endings):
        self.endings = endings


def endings_of(**vehicle):
    own = {"may_land": False, "lost_after": 0.25, "push_hold": 1.0, **vehicle}
    landing = {"may_land": True, "lost_after": None, "push_hold": None}
    objects = {"trees": Trees.model_construct(), "wall": SimpleNamespace()}
    spec = SimpleNamespace(
        world=SimpleNamespace(objects=objects), dt=0.1, vehicles=[SimpleNamespace(**landing), SimpleNamespace(**own)]
    )  # fmt: skip
    engine = Engine()
    return engine, ContactEndings(engine, spec, 3)


def test_grounds_end_who_may_not_land_obstacles_all_and_walls_what_is_no_central_body():
    engine, _ = endings_of()
    walls = [[HIT_OBSTACLE, HIT_OBSTACLE], [RUNNING, AIRCRAFT_HIT]]
    assert engine.endings.tolist() == [[[RUNNING] * 2, *walls], [[HIT_GROUND] * 2, *walls]]


def flown(engine, endings, touches):
    """Statuses of three worlds, control instant by control instant, by who of them touches."""
    plant, found = SimpleNamespace(engine=engine, status=np.full(3, RUNNING)), []
    for k, worlds in enumerate(touches):
        plant.times = np.full(3, 0.1 * k)
        wrenches = np.zeros((3, 6))
        wrenches[worlds, 2] = 1.0
        plant.contact_wrenches = lambda vehicle, wrenches=wrenches: wrenches
        endings.end(plant)
        found.append(plant.status.tolist())
    return plant, found


def test_a_contact_that_is_lost_for_longer_than_allowed_ends_its_world_alone():
    engine, endings = endings_of()
    plant, found = flown(engine, endings, [[0, 1], [0, 1], [1], [1], [1], [1]])
    lost = [each[0] for each in found]
    assert lost == [RUNNING] * 4 + [CONTACT_LOST] * 2  # 0.3 s after the last touch
    assert all(each[1:] == [RUNNING, RUNNING] for each in found)  # one touches, one never has
    assert engine.culprits.tolist() == [1, 0, 0]


@pytest.mark.parametrize(("hold", "ends"), [(0.25, True), (0.15, False)])
def test_a_contact_that_has_lasted_as_long_as_asked_for_may_end(hold, ends):
    engine, endings = endings_of(push_hold=hold)
    plant, found = flown(engine, endings, [[0], [0], [], [], [], []])
    assert (found[-1][0] == CONTACT_LOST) == ends


def test_what_is_touched_ends_a_running_world_and_a_reset_forgets():
    engine, endings = endings_of()
    engine.touched[2] = HIT_GROUND
    plant, found = flown(engine, endings, [[0]])
    assert found[0] == [RUNNING, RUNNING, HIT_GROUND]
    endings.reset(np.array([0]))
    plant, found = flown(engine, endings, [[], [], [], [], []])
    assert found[-1][0] == RUNNING
