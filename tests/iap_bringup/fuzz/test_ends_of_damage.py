# SPDX-License-Identifier: BSD-3-Clause
"""Damage by generators that draw the least, or the largest, of everything: its ends are where they are meant to be."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from drawn_ends import Largest, Least

from iap_bringup.fuzz import bag_damage, damage
from iap_bringup.fuzz.bag_damage import (
    FACTORS,
    FLOATS,
    STEPS,
    TEXTS,
    WHOLE,
    drawn_change,
    places,
    put,
)

DATA = bytes(range(1, 256)) * 2
REST = DATA[100:]


@pytest.mark.parametrize(
    ("change", "least", "largest"),
    [
        (damage._flip, bytes([101 ^ 1]) + REST[1:], bytes([101 ^ 128]) + REST[1:]),
        (damage._replace, bytes([0]) + REST[1:], bytes([255]) + REST[1:]),
        (damage._number, bytes(2) + REST[2:], bytes([0] * 4 + [255] * 4) + REST[8:]),
        (damage._run, bytes([0]) + REST[1:], b"\x41" * 64 + REST[64:]),
        (damage._cut_out, REST[1:], REST[200:]),
        (damage._repeat, REST[:1] + REST, REST[:200] + REST),
        (damage._insert, b"\7" + REST, b"\7" * 16 + REST),
        (damage._truncate, b"", b""),
        (damage._float, b"\0\0\xc0\x7f" + REST[4:], np.float64(1e-30).tobytes() + REST[8:]),
    ],
)
def test_damage_to_bytes_is_from_one_to_its_most(change, least, largest):
    for rng, rest in ((Least(), least), (Largest(), largest)):
        out = bytearray(DATA)
        change(out, 100, rng)
        assert bytes(out) == DATA[:100] + rest


@pytest.mark.parametrize(
    ("at", "is_put"), [(0, True), (3, True), (4, True), (8, False), (11, False)]
)
def test_a_float_that_does_not_fit_is_left_out_and_others_are_aligned(at, is_put):
    out = bytearray(DATA[:12])
    damage._float(out, at, Largest())
    begin = at - at % 4
    number = np.float64(1e-30).tobytes()
    assert out == (DATA[:begin] + number + DATA[begin + 8 : 12] if is_put else DATA[:12])


def test_words_go_behind_a_mark_and_take_the_place_of_some_letters():
    class Words(Least):
        def random(self):
            return self.shares.pop(0)

    rng = Words()
    rng.shares = [0.3, 0.5]
    first = damage.WORDS[0]
    assert damage.damaged_text("a: bc", rng) == f"a:{first}bc".encode()  # one letter less
    rng.shares = [0.3, 0.499]
    assert damage.damaged_text("a: bc", rng) == f"a:{first} bc".encode()
    rng.shares = [0.299]
    assert damage.damaged_text("a: bc", rng) == bytes([ord("a") ^ 1]) + b": bc"


def test_the_last_of_all_is_what_trees_and_numbers_become():
    assert damage._other_number(7, Least()) == -7 and damage._other_number(7, Largest()) == 2**64
    assert damage._other_number(2.0, Least()) == -2.0
    assert damage._other_number(2.0, Largest()) == damage.LEAST_POSITIVE
    assert damage.other_value(None, Largest()) == damage.VALUES[-1]
    assert damage.damaged_tree({"a": 1}, Least()) == {"a": damage.VALUES[0]}
    assert damage.damaged_tree([1, 2], Largest()) == [1, 2, 2, 2, 2]
    assert damage.damaged_tree({"a": [1]}, Largest()) == {None: [1]}
    assert damage.damaged_tree(5, Largest()) == damage.VALUES[-1]
    assert damage.detuned_tree({"a": 1, "b": [2.0]}, Least()) == {"a": -1, "b": [2.0]}
    assert damage.detuned_tree({"on": True}, Least()) == {"on": False}
    assert damage.detuned_tree({"on": True}, Largest()) == {"on": True}  # and back
    assert damage.yaml_bytes({"b": 1, "a": "ä"}) == "b: 1\na: ä\n".encode()
    assert damage.paths({"a": {"b": [1, {"c": 2}]}, "d": 0}) == [
        "a", "a.b", "a.b.0", "a.b.1", "a.b.1.c", "d",
    ]  # fmt: skip
    assert [key for _, key in damage._leaves({"a": {"b": 1}, "c": [2, {"d": 3}]})] == [
        "b", 0, "d", "c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("share", "tree", "listed"),
    [
        (0.699, {"a": damage.VALUES[0]}, [damage.VALUES[0], 6]), (0.7, {}, [6]), (0.799, {}, [6]),
        (0.8, {"x": 5}, [5, 6, 5]),
    ],
)  # fmt: skip
def test_most_values_are_replaced_some_left_out_and_others_renamed_or_repeated(
    share, tree, listed
):
    class Share(Least):
        def random(self):
            return share

    assert damage.damaged_tree({"a": 5}, Share()) == tree
    assert damage.damaged_tree([5, 6], Share()) == listed


A, B = SimpleNamespace(topic="a"), SimpleNamespace(topic="b")


def made(count=60):
    """Messages of two topics in turn, a microsecond apart."""
    return [((A, B)[k % 2], 1000 * k, k) for k in range(count)]


def test_times_get_a_step_from_a_message_on():
    assert bag_damage._times(made(3), Least()) == [
        (c, t + STEPS[0], content) for c, t, content in made(3)
    ]

    class Some(Least):
        def choice(self, values):
            return self.drawn.pop(0)(values)

    rng, count = Some(), 60
    pick = [lambda v: v[-1], lambda v: v[1], lambda v: made()[1], lambda v: v[0]]
    for ends, length in ((0, count), (1, 1), (2, 20)):
        rng.drawn = [pick[0], lambda v, ends=ends: v[ends], pick[2], pick[3]]
        found = bag_damage._times(made(), rng)
        moved = [k for k, (_, t, _) in enumerate(found) if t != 1000 * k]
        assert moved == list(range(length)) and found[0][1] == STEPS[-1]
    rng.drawn = [pick[0], pick[3], pick[2], lambda v: v[1]]
    found = bag_damage._times(made(), rng)
    assert [k for k, (_, t, _) in enumerate(found) if t != 1000 * k] == list(range(1, count, 2))


def test_messages_are_left_out_come_again_all_at_one_time_or_in_another_order():
    class Ends(Least):
        def choice(self, values):
            return values[self.ends] if len(values) == 3 else values[0]

    rng = Ends()
    for ends, left in ((0, 0), (1, 59), (2, 10)):
        rng.ends = ends
        assert bag_damage._left_out(made(), rng) == made()[60 - left :]
    assert bag_damage._again(made(), Least()) == [*made(), *made()[:50]]
    assert bag_damage._again(made(), Largest()) == [*made(), made()[-1]]
    assert {t for _, t, _ in bag_damage._one_time(made(), Least())} == {0}
    assert {t for _, t, _ in bag_damage._one_time(made(), Largest())} == {59_000}
    assert bag_damage._order(made(), Least()) == made()[::-1]
    assert sorted(each[2] for each in bag_damage._order(made(), Largest())) == list(range(60))


def test_a_value_becomes_another_one_of_its_type():
    for rng, end in ((Least(), 0), (Largest(), -1)):
        change = drawn_change(rng)
        assert change(True) is False and change(5) == change(np.int32(5)) == WHOLE[end]
        assert change("word") == TEXTS[end] and change(None) is None
    assert np.isnan(drawn_change(Least())(2.5)) and np.isnan(FLOATS[0])
    assert drawn_change(Largest())(np.float32(2.5)) == 2.5 + FACTORS[-1]


@dataclass
class Inner:
    """A part of a message."""

    numbers: np.ndarray
    name: str = "n"


@dataclass
class Outer:
    """A message."""

    inner: Inner
    parts: list = field(default_factory=list)
    flag: bool = True
    __msgtype__: str = "x"


def test_every_single_value_of_a_message_has_its_place_and_takes_another():
    numbers = np.arange(45.0)
    numbers.flags.writeable = False
    message = Outer(Inner(numbers), [Inner(np.arange(2.0), "a"), Inner(np.arange(1.0), "b")])
    found = list(places(message))
    names = [name for _, name in found]
    assert names == [*range(40), "name", 0, 1, "name", 0, "name", "flag"]
    for part, name in found:
        put(part, name, lambda value: value if isinstance(value, str | bool) else value + 0.5)
    assert message.inner.numbers[:40].tolist() == [k + 0.5 for k in range(40)]
    assert message.inner.numbers[40] == 40.0 and numbers[0] == 0.0
    assert message.parts[1].numbers.tolist() == [0.5]


def test_one_field_of_one_topic_is_changed_in_a_stretch():
    def messages():
        return [((A, B)[k % 2], k, Inner(np.array([float(k)]))) for k in range(60)]

    class Stretch(Least):
        def choice(self, values):
            if values[0] is None:
                return values[self.end]
            return values[-1] if len(values) == 3 else values[0]  # floats by a step

    rng = Stretch()
    for end, count in ((0, 30), (1, 1), (2, 20)):
        rng.end = end
        found = bag_damage._values(messages(), rng)
        moved = [k for k, (_, _, content) in enumerate(found) if content.numbers[0] != k]
        assert moved == list(range(0, 2 * count, 2))
    empty = [(A, 0, SimpleNamespace())]
    assert bag_damage._values(empty, Least()) is empty
