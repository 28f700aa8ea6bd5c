# SPDX-License-Identifier: BSD-3-Clause
"""Notices, topics, limits, arms and notes of vehicles, by hand."""

import numpy as np
import pytest
from made_up_columns import ESTIMATED, FEELS, STAR, columns, records
from made_up_flights import vehicle_meta

from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import BatteryFault, RotorFault
from iap_description.vehicles.platform import load_platform
from iap_io.recording.note_chunk import Note, NoteChunk
from iap_io.runs import column_messages, fault_meta, run_reader, topics
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.vehicle_meta import AircraftMeta, ChainMeta, VehicleMeta
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import StateMessage


def test_notices_are_in_the_order_of_time():
    faults = (
        RotorFault(at=3.0, aircraft=1, rotor=2, thrust=0.5),
        BatteryFault(at=1.0, aircraft=1, battery=0.9),
    )
    losses = [
        fault_meta.LossMeta(at=at, hover_load=0.5, can_carry=ok, text=text)
        for at, ok, text in ((3.0, False, "it falls"), (2.0, True, "it holds"))
    ]
    found = fault_meta.notices("iap", faults, losses)
    assert [each.text for each in found] == [
        "t = 1.000 s: iap: battery of aircraft 1 down to 90 % speed", "t = 2.000 s: iap re-allocates: it holds",
        "t = 3.000 s: iap: rotor 2 of aircraft 1 at 50 % thrust", "t = 3.000 s: iap re-allocates: it falls",
    ]  # fmt: skip
    assert [each.is_warning for each in found] == [False, False, False, True] and found[1].t == 2.0


def test_topics_of_bodies_and_of_what_a_vehicle_has():
    assert [topics.odometry_topic(each) for each in ("base_link", "drone_1")] == [
        "odom",
        "drone_1/odom",
    ]
    assert [topics.estimate_topic(each) for each in ("base_link", "drone_1")] == [
        "virpo/odometry",
        "drone_1/virpo/odometry",
    ]
    assert topics.covariance_topics(STAR) == {}
    assert topics.covariance_topics(ESTIMATED)["drone_2"] == "/star/drone_2/virpo/pose"
    assert topics.covariance_topics(ESTIMATED)["base_link"] == "/star/virpo/pose"
    assert run_reader._needed(STAR) == ("state", "reference", "command")
    assert run_reader._needed(FEELS) == ("state", "reference", "command", *topics.WRENCH_TOPICS)
    armed = vehicle_meta("m100_arm")
    assert run_reader._needed(armed) == (
        "state",
        "reference",
        "command",
        "joint_states",
        "joints/command",
    )
    assert (
        run_reader._estimates(STAR) == ()
        and run_reader._estimates(ESTIMATED)[1] == "drone_1/virpo/odometry"
    )
    assert set(topics.layouts(armed)) >= {"joint_states", "joints/command"}
    assert set(topics.layouts(ESTIMATED)) - set(topics.layouts(STAR)) == {
        topics.estimate_topic(b) for b in STAR.bodies
    }


@pytest.mark.parametrize(
    ("controlled", "axis"),
    [
        ((True, True, True), None),
        ((True, False, True), 1),
        ((False, True, True), 0),
        ((False, False, True), None),
    ],
)
def test_an_under_actuated_platform_turns_freely_about_one_axis(controlled, axis):
    assert STAR.model_copy(update={"controlled": controlled}).free_axis == axis
    assert STAR.count == 3 and not STAR.is_estimated and ESTIMATED.is_estimated


def test_limits_are_those_of_each_aircraft_or_of_their_kind():
    of_each = STAR.limits
    assert (
        len(of_each) == 3
        and of_each[0].thrust == STAR.thrust_limits
        and of_each[0].rpm == STAR.rpm_limits
    )
    other = AircraftMeta(
        thrust=(1.0, 2.0), rpm=(3.0, 4.0), thrust_coefficient=5.0, tilt_max_deg=6.0
    )
    assert STAR.model_copy(update={"unlike": (other,)}).limits == (other,)
    for key, value in (
        ("aircraft", (1, 4)),
        ("aircraft", ()),
        ("joints", (STAR.joints[0].model_copy(update={"child": 4}),)),
    ):
        with pytest.raises(ValueError, match=f"key '{key}': not "):
            VehicleMeta.model_validate({**STAR.model_dump(), key: value})


def test_an_arm_of_a_vehicle_is_a_chain_again():
    armed = vehicle_meta("m100_arm")
    chain = armed.arm_chain.chain
    assert len(armed.arm_joints) == len(armed.arm_limits) == len(chain.kinds)
    assert ChainMeta.of(chain) == armed.arm_chain and chain.rotations.shape == (
        len(chain.kinds),
        3,
        3,
    )
    assert STAR.arm_joints == () and STAR.arm_chain is None


class Topics:
    """A bag that takes topics only."""

    def __init__(self):
        self.names = []

    def add_topic(self, name, kind):
        self.names.append((name, kind))
        return len(self.names)


def test_notes_stand_behind_each_other_with_their_places():
    bag = Topics()
    meta = RunMeta(
        scenario="a",
        seed=1,
        physics_hz=1e3,
        control_hz=200.0,
        vehicles=(ESTIMATED,),
        latches=("l",),
        joints=("j",),
        objects=("o",),
    )
    chunk = NoteChunk(bag, meta)
    assert [name for name, _ in bag.names[:3]] == ["/latches", "/joints", "/world/state"] and len(
        bag.names
    ) == 7
    notes = [
        Note("/latches", 5, b"abc"),
        Note("/world/state", 6, b"defgh"),
        Note("/latches", 7, b"i"),
    ]
    (data,), index = chunk.fill(notes, 1000)
    head = 31
    assert len(data) == 3 * head + 9 and data[head : head + 3] == b"abc"
    assert [each.tolist() for each in index[1]] == [[5, 7], [1000, 1000 + 2 * head + 8]]
    assert [each.tolist() for each in index[3]] == [[6], [1000 + head + 3]]
    assert chunk.fill([], 5) == ([], {})
    plain = Topics()
    NoteChunk(
        plain,
        meta.model_copy(update={"latches": (), "joints": (), "objects": (), "vehicles": (STAR,)}),
    )
    assert plain.names == []


def test_a_state_has_its_joints_by_their_types():
    """A state of nodes has the bytes of the recorder's, also of joints that turn about one or two axes."""

    for name in ("three_star", "three_star_mixed", "three_star_hinge", "three_star_universal"):
        assembly, meta = Assembly.of(load_platform(name)), vehicle_meta(name)
        c = columns(meta, 1)
        out, sent = records(topics.layouts(meta)["state"], 1), StateMessage.of(assembly, 12)
        column_messages.fill_state(out, c, meta)
        sent.put_head(1_500_000_000, 7)
        sent.put_rows(c.x[0], c.rpm[0], c.tilt[0])
        assert sent.dump() == out.tobytes()
        heard = MessageReader(StateMessage).read(sent.dump())
        np.testing.assert_array_equal(heard.tilt, c.tilt[0])
        sent.put_rows(c.x[0], c.rpm[0])
        assert not sent.tilt.any()
