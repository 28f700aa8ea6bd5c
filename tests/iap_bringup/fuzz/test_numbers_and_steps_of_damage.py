# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of values that damage touches, its steps in numbers and times, and its reach into arrays and meshes."""

import io
from random import Random

import numpy as np
import pytest

from iap_bringup.fuzz import bag_damage, damage, file_damage, made_texts
from iap_description.config.bounds import LARGEST_NUMBER, LEAST_POSITIVE


class Picks(Random):
    """Takes the k-th of every choice, and the least or the largest of every range."""

    def __init__(self, *picks, largest=False):
        super().__init__(1)
        self.picks, self.largest = list(picks), largest

    def choice(self, values):
        return values[self.picks.pop(0)]

    def randint(self, low, high):
        return high if self.largest else low


@pytest.mark.parametrize(
    ("picks", "value", "expected"),
    [
        ((0, 0, 0), 4.0, -4.0), ((1, 0, 0), 4.0, 0.0), ((2, 0, 0), 4.0, 2.0), ((3, 0, 0), 4.0, 4.04),
        ((4, 0, 0), 4.0, 12.0), ((4, 0, 1), 4.0, 3.0), ((0, 0, 3), 4.0, 5.0), ((0, 0, 4), 4.0, LARGEST_NUMBER),
        ((0, 1, 4), 4.0, -LARGEST_NUMBER), ((0, 2, 4), 4.0, LEAST_POSITIVE), ((0,), 4, -4), ((1,), 4, 0),
        ((2,), 4, 1), ((3,), 4, 5), ((4,), 4, 40), ((5,), 4, 10**6), ((6,), 4, 10**9), ((7,), 4, 2**31),
        ((8,), 4, 2**63), ((9,), 4, 2**64),
    ],
)  # fmt: skip
def test_another_number_is_a_little_off_or_absurd_and_of_its_kind(picks, value, expected):
    found = damage._other_number(value, Picks(*picks))
    assert found == pytest.approx(expected) and type(found) is type(value)


@pytest.mark.parametrize(
    ("largest", "factor", "any_size"), [(False, 1e-12, 1e-30), (True, 1e12, 1e15)]
)
def test_another_number_may_be_of_any_power_of_ten(largest, factor, any_size):
    powers = [damage._other_number(2.0, Picks(5, 0, k, largest=largest)) for k in (0, 1, 2)]
    assert powers == pytest.approx([2.0 * factor, factor, any_size], rel=1e-12, abs=0.0)


def test_one_to_three_values_of_a_tree_are_replaced_and_one_or_two_detuned():
    tree = {f"k{k}": 10_000 + k for k in range(60)}
    counts = {
        change: {
            sum(found.get(key) != value for key, value in tree.items())
            for found in (change(tree, Random(seed)) for seed in range(300))
        }
        for change in (damage.damaged_tree, damage.detuned_tree)
    }
    assert counts[damage.damaged_tree] - {0} == {1, 2, 3}
    assert counts[damage.detuned_tree] - {0} == {1, 2}
    assert tree == {f"k{k}": 10_000 + k for k in range(60)}


def test_times_of_messages_go_back_and_on_by_a_millisecond_to_a_life():
    second = 10**9
    back, on = ([each for each in bag_damage.STEPS if sign * each > 0] for sign in (-1, 1))
    assert sorted(back) == [-(10**18), -second, -(10**6)] and 0 in bag_damage.STEPS
    assert sorted(on) == [1, 10**6, second, 3600 * second, 10**18]


def test_one_array_of_an_archive_is_damaged_more_often_than_not(tmp_path, monkeypatch):
    monkeypatch.setattr(file_damage, "BOMBS", 0.0)
    file = tmp_path / "rows.npz"
    rows = np.arange(12.0).reshape(3, 4) + 1.0
    np.savez(file, rows=rows)
    same, seeds = 0, range(120)
    for seed in seeds:
        data = file_damage._archive(file, Random(seed))
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as found:
                array = dict(found)["rows"]
        except Exception:  # noqa: BLE001, S112 - whatever a reader says of damaged bytes
            continue
        same += array.dtype == rows.dtype and np.array_equal(array, rows)
    assert same < 0.15 * len(seeds), (
        "reversed strides and bytes that say nothing leave it as it is"
    )


def test_a_made_mesh_is_a_tetrahedron_whose_faces_look_outwards():
    faces = np.array(made_texts.CORNERS, float)
    assert np.linalg.det(faces).sum() / 6.0 == pytest.approx(1.0 / 6.0)
    edges = [(tuple(f[k]), tuple(f[(k + 1) % 3])) for f in made_texts.CORNERS for k in range(3)]
    assert sorted(edges) == sorted((b, a) for a, b in edges)


def test_what_takes_days_is_not_drawn_and_what_is_refused_is() -> None:
    words = ("100001", "1000000000", "9" * 30, "x", "-1", "100000", "")
    assert [w for w in words if damage.is_long("steps", w)] == ["100001", "1000000000"]
    assert [w for w in words if damage.is_long("duration", w)] == [*words[:2], "100000"]
    assert not any(damage.is_long("seed", w) for w in words)
    made = [
        damage.detuned_tree({"duration": 40.0}, Random(seed))["duration"] for seed in range(500)
    ]
    assert not any(100.0 < each <= 2.0**31 for each in made) and max(made) > 2.0**31
