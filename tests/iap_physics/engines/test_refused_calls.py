# SPDX-License-Identifier: BSD-3-Clause
"""Calls that an engine cannot answer: foreign snapshots, joints that are not there, arms that nobody has."""

from types import SimpleNamespace

import numpy as np
import pytest
from contact_engines import NAMES
from docking_pairs import assemblies, engine, start

from iap_description.errors import BadInput, IapError
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import Engine
from iap_physics.engines.joints import at_rest, check_start
from iap_physics.engines.make import make_engine
from iap_physics.session.session import Session

ONE = np.zeros(3)


NOTHING = World.model_validate({"gravity": 0.0, "objects": {}})


@pytest.fixture(params=NAMES)
def made(request):
    return engine(request.param, start(depth=-1.0), shapes=False)


def test_a_snapshot_is_of_the_engine_and_of_the_time_since_its_last_load(made):
    own = made.snapshot()
    made.restore(own)
    made.load(NOTHING, assemblies(shapes=False))
    made.reset(start(depth=-1.0))
    for foreign in (own, object()):
        with pytest.raises(IapError, match="restore: the snapshot is not of this engine since"):
            made.restore(foreign)


@pytest.mark.parametrize("ask", ["remove_joint", "joint_wrench"])
def test_a_joint_that_is_not_there_is_named(made, ask):
    handle = made.add_joint(0, 1, ONE, ONE)
    made.remove_joint(handle)
    with pytest.raises(IapError, match=f"{ask}: there is no joint {handle}"):
        getattr(made, ask)(handle)


def test_a_world_without_an_arm_grips_nothing(made):
    for ask in (made, SimpleNamespace()):
        with pytest.raises(IapError, match="vehicle 0 has no arm in this engine"):
            Engine.put_arm(ask, 0, ONE, ONE)
        with pytest.raises(IapError, match="grip: this engine has no arms"):
            Engine.grip(ask, 0, 0, p_OJ_O=ONE, p_LJ_L=ONE, q_OL=ONE, max_force=1.0)


def closed_form(platform="f450"):
    made = make_engine("closed_form")
    made.load(NOTHING, [Assembly.of(load_platform(platform))])
    return made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x[:, :3], r"start state: expected shape \(1, 4, 13\), got \(1, 3, 13\)"),
        (lambda x: np.tile(x, (2, 1, 1)), r"got \(2, 4, 13\)"),
        (lambda x: x + [[0], [0], [np.nan], [0]], "start state of 'iap/drone_2': not finite"),
        (
            lambda x: x * np.where(np.arange(13) == 6, 1.1, 1.0),
            "an attitude is not a unit quaternion",
        ),
        (
            lambda x: x + 0.01 * np.eye(13)[0] * [[0], [1], [0], [0]],
            "start state of 'iap/drone_1': 0.01 m off",
        ),
    ],
)
def test_states_at_the_start_have_their_shape_and_are_on_their_joints(change, said):
    assemblies_ = [Assembly.of(load_platform("three_star"))]
    x = at_rest(assemblies_)[None]
    np.testing.assert_allclose(check_start(assemblies_, x, 1), x, atol=1e-12)
    with pytest.raises(BadInput, match=said):
        check_start(assemblies_, change(x), 1)


def test_the_closed_form_takes_its_own_snapshots_alone():
    made, other = closed_form(), closed_form("three_star")
    made.restore(made.snapshot())
    for foreign in (other.snapshot(), None):
        with pytest.raises(IapError, match="restore: the snapshot is not of this engine"):
            made.restore(foreign)


def test_a_protocol_is_no_engine():
    with pytest.raises(
        BadInput, match="class 'iap_physics.engines.engine:Engine' is a protocol, not"
    ):
        make_engine("iap_physics.engines.engine:Engine")


def test_a_session_without_joints_takes_no_commands_of_joints():
    with pytest.raises(BadInput, match="there are no joints"):
        Session.offer_joints(SimpleNamespace(joints=None), 0.0, {})
