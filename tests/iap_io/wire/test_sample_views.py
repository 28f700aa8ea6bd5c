# SPDX-License-Identifier: BSD-3-Clause
"""What ideal inertial units feel arrives as it was sent, however many instants are in a message."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.wire.cdr import message_types
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import InertialMessage

FRAMES = ["iap/base_link_imu", "iap/drone_1_imu"]
STAMP = 12_345_000_000


def turns(seed=0):
    q = np.random.default_rng(seed + 100).normal(size=(2, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def filled(instants, seed=0):
    out = InertialMessage.of("iap/base_link", FRAMES, instants)
    stamps = STAMP - 1_000_000 * np.arange(instants)[::-1]
    w_S, f_S = np.random.default_rng(seed).normal(size=(2, instants, len(FRAMES), 3))
    out.put_head(STAMP, 7)
    out.put_samples(turns(seed), stamps, w_S, f_S)
    return out, stamps, w_S, f_S


def test_samples_arrive_as_they_were_sent_whatever_their_number():
    inlet = MessageReader(InertialMessage, frames=())
    for number, instants in enumerate((1, 5, 0, 1, 2, 5)):
        out, stamps, w_S, f_S = filled(instants, seed=number)
        heard = inlet.read(out.dump())
        assert (heard.stamp, heard.sequence, heard.frames) == (STAMP, 7, FRAMES)
        np.testing.assert_array_equal(heard.q_WB, turns(number))
        np.testing.assert_array_equal(heard.stamps, stamps)
        np.testing.assert_array_equal(heard.w_S, w_S)
        np.testing.assert_array_equal(heard.f_S, f_S)
        assert heard.w_S.shape == (instants, 2, 3)


def test_a_layout_is_learned_once_for_every_number_of_instants():
    inlet = MessageReader(InertialMessage, frames=())
    first = [inlet.read(filled(instants)[0].dump()) for instants in (1, 5)]
    again = [inlet.read(filled(instants, seed=1)[0].dump()) for instants in (1, 5)]
    assert all(a is b for a, b in zip(first, again, strict=True))


def test_the_message_is_the_one_that_rosbags_knows():
    out, stamps, w_S, f_S = filled(2)
    said = message_types().deserialize_cdr(out.dump(), InertialMessage.TYPE)
    assert said.header.frame_id == "iap/base_link"
    assert [s.sec * 10**9 + s.nanosec for s in said.stamps] == stamps.tolist()
    at = said.angular_velocities[3]
    assert [at.x, at.y, at.z] == w_S[1, 1].tolist()
    at = said.specific_forces[2]
    assert [at.x, at.y, at.z] == f_S[1, 0].tolist()


def test_other_bytes_are_refused():
    with pytest.raises(BadInput, match="InertialSamples"):
        MessageReader(InertialMessage, frames=()).read(b"\x00\x00\x00\x00")
