# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of a version whose messages had fewer fields, or others."""

import re
from pathlib import Path

import numpy as np
import pytest
from made_up_flights import random_flight, run_meta
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from iap_description.errors import BadInput
from iap_io.recording.recorder import Recorder
from iap_io.runs.run_reader import RunReader
from iap_io.runs.topics import BAG, META
from iap_io.wire.cdr import message_types

TICKS = 7


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    flight = random_flight("three_star", TICKS)
    with Recorder(tmp_path / "new", run_meta(flight)) as recorder:
        for k in range(TICKS):
            flight.record(recorder, k)
    return tmp_path / "new"


def older_store(edit):
    """Today's types after an edit of each definition's text."""
    store, types = get_typestore(Stores.ROS2_JAZZY), {}
    for name in message_types().fielddefs:
        if name.startswith("iap_msgs/"):
            text = message_types().generate_msgdef(name, ros_version=2)[0].split("=" * 80)[0]
            types.update(get_types_from_msg(edit(text), name))
    store.register(types)
    return store


def cut(old, store, name):
    """A message of an older type with what is left of today's."""
    values = {}
    for field, (_, detail) in store.fielddefs[name][1]:
        value = getattr(old, field, 0.5)
        if isinstance(detail, str):
            value = cut(value, store, detail)
        elif detail[0] == "string":
            value = str(value)
        elif isinstance(detail[0], tuple) and detail[0][0].name == "NAME":
            value = [cut(each, store, detail[0][1]) for each in value]
        values[field] = value
    return store.types[name](**values)


def copy(folder: Path, to: Path, store) -> None:
    """The same recording with messages of other types."""
    to.mkdir()
    with Reader(folder / BAG) as reader:
        with Writer(to / BAG, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            writer.set_custom_data(META, RunReader(folder).meta.model_dump_json())
            made = {
                each.id: writer.add_connection(each.topic, each.msgtype, typestore=store)
                for each in reader.connections
            }
            for connection, stamp, data in reader.messages():
                if connection.msgtype.startswith("iap_msgs/"):
                    content = message_types().deserialize_cdr(data, connection.msgtype)
                    older = cut(content, store, connection.msgtype)
                    data = store.serialize_cdr(older, connection.msgtype)
                writer.write(made[connection.id], stamp, data)


def without_tilt(text: str) -> str:
    return re.sub(r"^float64\[4?\] (rotor_)?tilt$", "", text, flags=re.MULTILINE)


def test_fields_that_were_unknown_are_zero_and_all_others_as_recorded(recorded, tmp_path):
    copy(recorded, tmp_path / "old", older_store(without_tilt))
    (new,), (old,) = RunReader(recorded).columns(), RunReader(tmp_path / "old").columns()
    assert np.abs(new.tilt).sum() > 0.0
    assert not old.tilt.any()
    for name in ("k", "t", "x", "reference", "rpm", "wrench_P"):
        np.testing.assert_array_equal(getattr(old, name), getattr(new, name))
    np.testing.assert_array_equal(old.aircraft[..., :12], new.aircraft[..., :12])
    assert not old.aircraft[..., 12:].any()


def test_fields_that_are_gone_are_left_out(recorded, tmp_path):
    copy(recorded, tmp_path / "other", older_store(lambda text: f"float64 forgotten\n{text}"))
    (new,), (other,) = RunReader(recorded).columns(), RunReader(tmp_path / "other").columns()
    for name in ("x", "aircraft", "rpm", "tilt"):
        np.testing.assert_array_equal(getattr(other, name), getattr(new, name))


def test_a_field_that_was_of_another_kind_is_one_line(recorded, tmp_path):
    store = older_store(lambda text: text.replace("uint64 sequence", "string sequence"))
    copy(recorded, tmp_path / "odd", store)
    with pytest.raises(BadInput, match="not a readable recording") as caught:
        RunReader(tmp_path / "odd").columns()
    assert "\n" not in str(caught.value)
