# SPDX-License-Identifier: BSD-3-Clause
"""What a sweep flies, from the words of its command."""

import pytest

from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.sweeps.statistics import wilson_interval
from iap_simulation.sweeps.study import Axis, Study, fingerprint


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("wind.speed=0:8:5", (0.0, 2.0, 4.0, 6.0, 8.0)),
        ("a=-1e-3:1e-3:3", (-1e-3, 0.0, 1e-3)),
        ("a=3:3:1", (3.0,)),
        ("control.gains=default,paper", ("default", "paper")),
        ("kP=[8, 8, 8],[9, 9, 9]", ([8, 8, 8], [9, 9, 9])),
        ("a=1, 2.5,true", (1, 2.5, True)),
    ],
)
def test_values_of_a_key(text, values):
    axis = Axis.of(text)
    assert axis.key == text.partition("=")[0]
    assert axis.values == pytest.approx(values) if ":" in text else axis.values == values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wind.speed", "KEY=FROM:TO:COUNT or KEY=VALUE"),
        ("=1,2", "KEY=FROM"),
        ("a=", "KEY=FROM"),
        ("seed=1,2", "--seeds"),
        ("a=1,1", "twice"),
        ("a=0:8:1", "at least two values"),
        ("a=0:8:0", "at least two values"),
        ("a=0:8:9999999", "more than"),
        ("a=1,,2", "between the commas|a="),
        ("a=1,", "between the commas"),
        ("a={", "a="),
    ],
)
def test_an_axis_that_is_none_is_refused(text, reason):
    with pytest.raises(BadInput, match=reason):
        Axis.of(text)


def test_all_combinations_are_resolved_as_the_command_line_would():
    axes = (Axis.of("control.gains=default,paper"), Axis.of("wind.speed=0:4:2"))
    study = Study("hover", Options(duration=2.0), axes, seeds=3)
    points = study.points()
    assert study.runs == 12
    assert [tuple(point.varied.values()) for point in points] == [
        ("default", 0.0),
        ("default", 4.0),
        ("paper", 0.0),
        ("paper", 4.0),
    ]
    by_hand = Options(duration=2.0, gains="paper", seed=0, assignments=("wind.speed=4.0",))
    assert points[3].tree == resolve("hover", by_hand)[1]


@pytest.mark.slow
def test_what_cannot_be_flown_is_refused_before_anything_is():
    with pytest.raises(BadInput, match="wind.spede"):
        Study("hover", axes=(Axis.of("wind.spede=1,2"),)).points()
    with pytest.raises(BadInput, match=r"with wind.speed = -1.*wind.speed"):
        Study("hover", axes=(Axis.of("wind.speed=1,-1"),)).points()
    with pytest.raises(BadInput, match="wind.speed.*twice"):
        Study("hover", axes=(Axis.of("wind.speed=1,2"), Axis.of("wind.speed=3,4")))
    with pytest.raises(BadInput, match="--seeds 0"):
        Study("hover", seeds=0)
    for seed in (-1, 2**63):
        with pytest.raises(BadInput, match=f"--seed {seed}:"):
            Study("hover", Options(seed=seed), seeds=2)
    with pytest.raises(BadInput, match="more than"):
        Study("hover", axes=(Axis.of("a=0:1:100000"),), seeds=1000)
    with pytest.raises(BadInput, match="200000 combinations are more than"):
        Study("hover", axes=(Axis.of("a=0:1:100000"), Axis.of("b=1,2")))
    with pytest.raises(BadInput, match="--count 0"):
        Study("hover", seeds=0, records=True)


def test_work_is_named_by_what_it_is():
    tree = resolve("hover", Options())[1]
    name = fingerprint(tree, (0, 1))
    assert fingerprint({**tree, "seed": 7}, [0, 1]) == name
    assert fingerprint(tree, (0, 2)) != name
    assert fingerprint({**tree, "duration": 1.5}, (0, 1)) != name


def test_wilson_intervals():
    """Against the roots of its defining equation, (p - k/n)^2 = z^2 p (1 - p) / n."""
    z = 1.959963984540054
    for k, n in ((0, 10), (5, 10), (95, 100), (1000, 1000)):
        low, high = wilson_interval(k, n)
        assert 0.0 <= low <= k / n <= high <= 1.0
        for p in (low, high):
            assert (p - k / n) ** 2 == pytest.approx(z * z * p * (1 - p) / n, abs=1e-15)
    assert wilson_interval(95, 100) == pytest.approx((0.8883, 0.9785), abs=1e-4)
