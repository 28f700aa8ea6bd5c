# SPDX-License-Identifier: BSD-3-Clause
"""Presets: files of a folder by name, and trees on top of trees."""

import pytest

from iap_description.config.record import Presets, merged
from iap_description.errors import BadInput


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plain.yaml").write_text("rate: 10.0\nnoise: {gyro: 1.0, accel: 2.0}\n")
    (tmp_path / "loud.yaml").write_text("noise: {gyro: 5.0}\n")
    return tmp_path


def test_a_preset_is_its_file(folder):
    presets = Presets(folder, "unit")
    assert presets.names() == ["loud", "plain"]
    assert presets.tree("loud") == {"noise": {"gyro": 5.0}}
    assert presets.file_or_path("loud") == presets.file("loud") == folder / "loud.yaml"
    assert presets.file_or_path(str(folder / "plain.yaml")) == folder / "plain.yaml"


def test_a_preset_with_a_base_is_laid_over_it(folder):
    presets = Presets(folder, "unit", base="plain")
    assert presets.tree("loud") == {"rate": 10.0, "noise": {"gyro": 5.0, "accel": 2.0}}
    assert presets.tree("plain") == {"rate": 10.0, "noise": {"gyro": 1.0, "accel": 2.0}}


def test_unknown_presets_are_refused_with_the_known_ones(folder):
    presets = Presets(folder, "unit")
    with pytest.raises(BadInput, match=r"no unit 'quiet' \(presets: loud, plain\)"):
        presets.tree("quiet")
    with pytest.raises(BadInput, match="unknown unit 'quiet': choose loud, plain, or the path"):
        presets.file_or_path("quiet")


def test_merging_leaves_both_trees_as_they_are():
    base, over = {"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": 3}, "d": [2]}
    assert merged(base, over) == {"a": {"b": 1, "c": 3}, "d": [2]}
    assert base == {"a": {"b": 1, "c": 2}, "d": [1]} and over == {"a": {"c": 3}, "d": [2]}
