# SPDX-License-Identifier: BSD-3-Clause
"""Engines by name, and steps in compiled calls."""

import struct
import sys

import numpy as np
import pytest
from flying import fly_scenario, scenario_of
from refusals import refusal

from iap_description.errors import BadInput, FlightFailed
from iap_description.world.world import World
from iap_physics.engines.make import ENGINES, make_engine
from iap_physics.engines.pybullet import engine as engines
from iap_physics.engines.pybullet import native
from iap_physics.engines.pybullet.engine import PyBulletEngine
from iap_physics.engines.pybullet.world import build
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

DT = 0.001
OWN = """
from iap_physics.engines.closed_form import ClosedFormEngine

class Own(ClosedFormEngine):
    pass

class Lacking:
    def load(self, world, assemblies, x=None): pass

class Stateless(ClosedFormEngine):
    def load(self, world, assemblies): pass
"""


@pytest.fixture
def in_python(monkeypatch):
    """Makes what is loaded from then on step by PyBullet's Python functions."""
    return lambda: monkeypatch.setattr(engines, "native_world", lambda *_: None)


def loaded(assemblies, start):
    engine = PyBulletEngine()
    engine.load(World(), assemblies)
    engine.reset(start)
    return engine


@pytest.fixture
def falling(assembly_of, level):
    """A platform and an aircraft that meet near the ground: assemblies, start."""
    star, single = assembly_of("three_star", "star"), assembly_of("f450", "single")
    rows = [level(star, p=(0.0, 0.0, 0.4)), level(single, p=(0.1, 0.0, 0.8), v=(0.0, 0.0, -3.0))]
    return (star, single), np.concatenate(rows)[None]


def pushed(engine, steps, seed=1):
    """States and contact wrenches under drawn loads, some of which are zero."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        wrenches = rng.normal(size=(1, engine.state().shape[1], 6))
        wrenches[:, rng.integers(wrenches.shape[1]), :3] = 0.0
        wrenches[:, rng.integers(wrenches.shape[1]), 3:] = 0.0
        engine.apply(wrenches)
        engine.step(DT)
        seen.append((engine.state()[0].copy(), engine.contact_wrench(0)))
    return [np.array(each) for each in zip(*seen, strict=True)]


def test_steps_have_the_bits_of_python_s(falling, in_python):
    engine = loaded(*falling)
    assert engine.native is not None
    states, wrenches = pushed(engine, 400)
    in_python()
    other = loaded(*falling)
    assert other.native is None
    states_2, wrenches_2 = pushed(other, 400)
    engine.close()
    other.close()
    np.testing.assert_array_equal(states, states_2)
    np.testing.assert_array_equal(wrenches, wrenches_2)
    assert wrenches.any()


@pytest.mark.parametrize(
    ("name", "settings", "options"),
    [
        ("figure_eight_windy", [], {}),
        ("hover", [], {"platform": "f450", "sensors": "imu"}),
        ("hover", ["drag='on'", "control.gains.autopilot.rate_hz=500.0"], {}),
        ("figure_eight_windy", [], {"gains": "px4"}),
    ],
)
def test_periods_have_the_bits_of_python_s(name, settings, options, in_python):
    states = []
    for _ in range(2):
        scenario = scenario_of(name, *settings, engine="pybullet", **options)
        with Simulation(Flight.of(scenario)) as simulation:
            states.append(np.array([simulation.step() for _ in range(40)]))
        in_python()
    np.testing.assert_array_equal(*states)


def test_a_flight_begins_in_a_world_that_was_built_once(monkeypatch):
    built = []
    monkeypatch.setattr(
        engines, "build", lambda *a, **k: built.append(build(*a, **k)) or built[-1]
    )
    with Simulation(Flight.of(scenario_of("hover", engine="pybullet"))) as simulation:
        assert len(built) == 1
        simulation.reset()
        assert len(built) == 2


def test_every_number_of_a_wrench_has_to_be_one(falling):
    engine = loaded(*falling)
    for component in range(6):
        wrenches = np.zeros((1, engine.state().shape[1], 6))
        wrenches[0, 1, component] = np.nan
        engine.apply(wrenches)
        with pytest.raises(FlightFailed, match="the wrench on .* is not finite"):
            engine.step(DT)
    engine.close()


@pytest.mark.parametrize("is_native", [True, False])
def test_failures_name_the_body_and_the_time(falling, in_python, is_native):
    if not is_native:
        in_python()
    engine = loaded(*falling)
    engine.step(DT)
    wrenches = np.zeros((1, engine.state().shape[1], 6))
    wrenches[0, 1, 4] = np.nan
    engine.apply(wrenches)
    with pytest.raises(FlightFailed, match=r"the wrench on 'star/\w+1' is not finite") as failure:
        engine.step(DT)
    assert failure.value.t == DT
    wrenches[0, 1, 4] = 1e9
    engine.apply(wrenches)
    with pytest.raises(FlightFailed, match="the state of 'star/.* beyond 10000") as failure:
        engine.step(DT)
    assert failure.value.t == 2.0 * DT
    engine.close()


def test_a_flight_that_diverges_ends_at_the_step(in_python):
    ends = []
    for _ in range(2):
        scenario = scenario_of("hover", engine="pybullet")
        with Simulation(Flight.of(scenario)) as simulation:
            simulation.step()
            simulation.plant.propulsion[0].rotors.records["thrust_coefficient"] = 1e5
            with pytest.raises(FlightFailed) as failure:
                simulation.step()
            ends.append((failure.value.t, str(failure.value)))
        in_python()
    assert ends[0] == ends[1]
    assert ends[0][0] < 0.01


def test_a_build_without_symbols_has_no_handles(tmp_path):
    path = tmp_path / "module.so"
    path.write_bytes(b"not of this kind")
    assert native._symbol_values(path, (b"a",)) is None
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", head, 40, 64)
    struct.pack_into("<HH", head, 58, 64, 0)
    path.write_bytes(head)
    assert native._symbol_values(path, (b"a",)) is None


@pytest.fixture(autouse=True)
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_engine.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("name", ENGINES)
def test_built_in_engines_are_made_by_name(name):
    engine = make_engine(name)
    try:
        assert engine.batch == 1
    finally:
        engine.close()


def test_an_engine_of_ones_own_flies_scenarios():
    own, closed = (
        fly_scenario("hover", engine=name, duration=0.5)[0].x
        for name in ("own_engine:Own", "closed_form")
    )
    np.testing.assert_array_equal(own, closed)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        (
            "raisim",
            "unknown name 'raisim': choose pybullet, mujoco, closed_form (or module:Class)",
        ),
        ("own_engine:Lacking", "has no method 'reset'"),
        ("own_engine:Stateless", "method 'load' of class 'own_engine:Stateless' takes no states"),
        ("iap_physics.engines.engine:Engine", "is a protocol"),
    ],
)
def test_what_is_no_engine_is_refused_in_one_line(name, named):
    line = refusal(make_engine, name)
    assert named in line and "key 'engine.name'" in line


def test_an_engine_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, ENGINES["pybullet"].partition(":")[0], None)
    with pytest.raises(BadInput, match=r"engine\.name.*pybullet"):
        make_engine("pybullet")
