# SPDX-License-Identifier: BSD-3-Clause
"""Worlds in single precision: near those in double precision, and as independent of each other."""

import numpy as np
import pytest
from simulated_gpu import check, simulated

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_physics.batch.threads import Threads
from iap_simulation.batch.worlds import Worlds

SCATTERED = {
    "draw.position": 0.1,
    "draw.attitude_deg": 3.0,
    "draw.mass": 0.1,
    "wind.speed": 3.0,
    "wind.turbulence": 8.0,
}
SECOND = 200  # control periods
compiles = pytest.mark.slow  # loops in single numbers are compiled where they are first asked for


def flown(name, seeds, precision="float32", periods=SECOND, **options):
    worlds = Worlds.of(name, seeds, settings=SCATTERED, precision=precision, **options)
    for _ in range(periods):
        worlds.advance()
    return worlds


@compiles
@pytest.mark.parametrize(
    ("name", "platform"),
    [("hover", "three_star"), ("figure_eight", "three_star"), ("hover", "three_star_fixed")],
)
def test_a_second_of_closed_loop_is_that_of_double_precision(name, platform):
    """Bars of 0.1 mm and 1e-4 rad; a single number of 1.5 m is good to 0.1 um."""
    single, double = (
        flown(name, 20, precision, platform=platform) for precision in ("float32", "float64")
    )
    assert not np.array_equal(single.state, double.state)
    apart = single.state[..., P] - double.state[..., P]
    turn = so3.quaternion_log(
        so3.multiply(so3.conjugate(double.state[..., Q]), single.state[..., Q])
    )
    assert np.abs(apart).max() < 1e-4
    assert np.linalg.norm(turn, axis=-1).max() < 1e-4
    assert (single.status == double.status).all()


@compiles
def test_a_world_does_not_depend_on_the_others_nor_on_threads():
    together, shared = flown("hover", 35, periods=50), flown("hover", 35, periods=50, threads=2)
    np.testing.assert_array_equal(together.state, shared.state)
    for i in (0, 31, 34):
        alone = flown("hover", [i], periods=50)
        np.testing.assert_array_equal(together.state[i], alone.state[0])


@compiles
@pytest.mark.parametrize("vectors", [1, 3])
def test_no_world_depends_on_where_threads_stretches_meet(monkeypatch, vectors):
    monkeypatch.setattr(Threads, "_callers_parts", lambda _, parts, *__: min(vectors, parts - 1))
    alone, shared = (flown("hover", 35, periods=20, threads=count) for count in (1, 2))
    for worlds in (alone, shared):
        worlds.plant.advance()
    np.testing.assert_array_equal(shared.state, alone.state)


@compiles
def test_many_periods_in_a_call_are_so_many_calls():
    settings = {**SCATTERED, "draw.com": 0.002, "draw.force": 0.2}
    one, many = (
        Worlds.of("figure_eight", 37, settings=settings, precision="float32") for _ in range(2)
    )
    for _ in range(5):
        many.fly(3)
        for _ in range(3):
            one.control()
            one.plant.advance()
    for name in ("state", "rpm", "status", "times", "instants"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name), err_msg=name)
    assert [one.ended(i) for i in range(37)] == [many.ended(i) for i in range(37)]


@compiles
def test_attitudes_are_units_to_double_precision():
    """Controllers take what their length is off for a thrust that is not met."""
    norms = np.linalg.norm(flown("hover", 3, periods=20).state[..., Q], axis=-1)
    np.testing.assert_allclose(norms, 1.0, atol=1e-15)


def test_what_needs_double_precision_is_refused():
    joint = {"platform.joints.0.limit_deg": 40.0}
    with pytest.raises(BadInput, match="precision 'float32' needs the closed form, without"):
        Worlds.of("hover", 2, settings=joint, precision="float32")
    with pytest.raises(BadInput, match="precision 'float16'"):
        Worlds.of("hover", 2, precision="float16")


@compiles
def test_worlds_on_a_simulated_gpu_are_those_of_the_processor_in_single_precision(tmp_path):
    check(simulated(tmp_path / "flown.npz", ("f450",), "float32"), "f450", "float32")
