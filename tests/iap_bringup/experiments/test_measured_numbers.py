# SPDX-License-Identifier: BSD-3-Clause
"""What studies measure of made-up flights is what a hand computes of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.experiments import (
    contact,
    docking,
    identification,
    landing,
)
from iap_learning.evaluation.results import Results
from iap_simulation.scenario.resolving import Options, resolve


def quiet(_):
    """Tell nobody."""


def test_figures_of_dockings_are_of_all_and_times_of_successes():
    success = np.array([True, True, False, True])
    measures = {
        "time": np.array([2.0, 3.0, 9.0, 4.0]),
        "calm_from": np.array([2.5, 4.5, np.nan, 5.0]),
        "force_peak": np.array([10.0, 61.0, 90.0, 60.0]),
    }
    row = docking.row_of(Results(np.arange(4), success, ["docked"] * 4, measures))
    assert row["starts"] == 4 and row["success_%"] == 75.0
    assert row["lock_s"] == 3.0 and row["lock_95_%_s"] == pytest.approx(3.9)
    assert row["then_calm_s"] == pytest.approx(1.0)
    assert row["above_60_n_%"] == 50.0
    assert row["force_95_%_n"] == pytest.approx(np.quantile(measures["force_peak"], 0.95))
    assert 15.0 < row["at_least_%"] < 75.0
    none = docking.row_of(Results(np.arange(4), ~success & success, ["lost"] * 4, measures))
    assert none["then_calm_s"] is None and none["lock_s"] is None and none["success_%"] == 0.0


def test_dockings_are_flown_with_drawn_delays_each_delay_and_in_every_engine(monkeypatch):
    flown = []
    monkeypatch.setattr(docking, "is_installed", lambda name: name == "mujoco")
    monkeypatch.setattr(
        docking, "fly_batched", lambda task, who, seeds: flown.append((task, who, list(seeds)))
    )
    monkeypatch.setattr(
        docking,
        "fly_in_engine",
        lambda task, who, engine, seeds: flown.append((engine, who, list(seeds))),
    )
    monkeypatch.setattr(docking, "make_task", lambda name, settings=None: (name, settings))
    flights = list(docking._flights(docking.Sizes(5, 3, 2)))
    assert [name for name, _ in flights] == [
        "delays drawn",
        "0 ms",
        "20 ms",
        "40 ms",
        "60 ms",
        "80 ms",
        "mujoco",
    ]
    for _, fly_it in flights:
        fly_it("agent")
    assert [seeds for _, _, seeds in flown] == [[1, 2, 3, 4, 5], *[[1, 2, 3]] * 5, [1, 2]]
    late = {
        "draw.delay": 0.0,
        "vehicles.0.model_error.delay": 0.02,
        "vehicles.1.model_error.delay": 0.02,
    }
    assert flown[2][0] == ("docking_hard", {"settings": late})
    assert flown[0][0] == ("docking_hard", None) and flown[-1][0] == "mujoco"
    monkeypatch.setattr(docking, "Policy", SimpleNamespace(load=lambda name: name))
    monkeypatch.setattr(docking, "baseline", lambda name: SimpleNamespace(name=name))
    monkeypatch.setattr(docking, "of_policy", lambda policy: SimpleNamespace(name="net"))
    monkeypatch.setattr(docking, "row_of", lambda results: {"row": 1})
    told = []
    rows = docking.docking_rows(docking.Sizes(5, 3, 2), told.append)
    assert (
        list(rows)[0] == "script, delays drawn"
        and list(rows)[-1] == "policy, mujoco"
        and len(rows) == 14
    )
    assert told[0] == "0 of 14: script, delays drawn"


def test_errors_of_identified_parameters_are_relative_to_what_was_drawn():
    def outcome(truth, predicted=(), **values):
        estimates = {
            name: SimpleNamespace(value=v, half_width=h) for name, (v, h) in values.items()
        }
        return identification.Outcome(truth, estimates, dict(predicted))

    soon = {"attitude predicted": 0.04}
    flights = [
        outcome({"roll": 2.0, "lag up": 1.0}, soon, roll=(2.2, 0.3), **{"lag up": (1.0, 0.0)}),
        outcome({"roll": 4.0, "lag up": 1.0}, {"attitude predicted": 0.08}, roll=(3.2, 0.6)),
    ]
    rows = identification._rows(flights)
    assert rows["roll"] == {
        "determined": "2 of 2", "rms_pct": pytest.approx(np.sqrt(250.0)), "largest_pct": pytest.approx(20.0),
        "bar_pct": 2.0, "within_pct": 0.0, "interval_pct": pytest.approx(15.0), "inside_pct": 50.0,
    }  # fmt: skip
    assert rows["lag up"]["determined"] == "1 of 2" and rows["lag up"]["inside_pct"] == 100.0
    assert rows["lag up"]["within_pct"] == 100.0
    assert rows["attitude predicted"]["largest_pct"] == pytest.approx(8.0)
    assert rows["attitude predicted"]["within_pct"] == 50.0
    none = identification._rows([outcome({"roll": 2.0})])["roll"]
    assert none.pop("determined") == "0 of 1" and none.pop("bar_pct") == 2.0
    assert set(none.values()) == {None}


def test_flights_to_identify_have_other_seeds_and_are_calm_in_gusts_gentle_or_of_a_platform(
    monkeypatch,
):
    flown, told = [], []
    monkeypatch.setattr(
        identification, "_flight", lambda seed, kind: flown.append((seed, kind)) or [seed]
    )
    monkeypatch.setattr(identification, "_rows", lambda flights: {"gain": {"of": len(flights)}})
    rows = identification.identification_rows(told.append, quick=True)
    assert rows == {
        f"{name}, gain": {"of": 4} for name in ("calm", "gusts", "gentle", "three_star")
    }
    assert [seed for seed, _ in flown] == [1, 2, 3, 4] * 4
    assert flown[4][1].assignments == identification.GUSTS
    assert flown[-1][1].scenario == "identification_star"
    assert told[0] == "0 of 4: calm" and told[-1] == "3 of 4: three_star"
    whole = identification.identification_rows(quiet)
    assert whole["calm, gain"] == {"of": 40} and whole["gentle, gain"] == {"of": 10}


def test_a_flight_that_the_identification_refuses_is_named_and_the_others_count(monkeypatch):
    def flight(seed, kind):
        if seed == 2:
            raise identification.RefusedFlight("a motor is at its end for 7 % of the time")
        return [identification.Outcome({"roll": 2.0}, {})]

    monkeypatch.setattr(identification, "_flight", flight)
    rows = identification.identification_rows(quiet, quick=True)
    assert rows["gusts, flights"] == {"determined": "3 of 4: not seed 2"}
    assert rows["gusts, roll"]["determined"] == "0 of 3"


def test_parameters_that_a_seed_draws_are_those_of_its_rotors_and_masses():
    settings = Options(
        seed=3,
        assignments=("draw.mass=0.1", "draw.inertia=0.1", "draw.thrust=0.1", "draw.rotor_lag=0.1"),
    )
    scenario, _ = resolve("identification_flight", settings)
    nominal, _ = resolve("identification_flight", Options(seed=3))
    found, plain = identification.truth(scenario), identification.truth(nominal)
    aircraft = nominal.vehicles[0].platform.aircraft
    thrust = aircraft.rotor.c_f * aircraft.rotor.rpm_max**2
    assert plain["full thrust per mass"] == pytest.approx(
        len(aircraft.rotors) * thrust / aircraft.mass
    )
    assert plain["thrust slope"] == pytest.approx(
        2.0 * np.sqrt(plain["full thrust per mass"] * 9.81), rel=1e-3
    )
    x, y = (np.mean([abs(each.position[k]) for each in aircraft.rotors]) for k in (0, 1))
    assert plain["roll"] == pytest.approx(thrust * y / aircraft.inertia[0])
    assert plain["pitch"] == pytest.approx(thrust * x / aircraft.inertia[1])
    assert plain["yaw"] == pytest.approx(
        thrust * aircraft.rotor.torque_ratio / aircraft.inertia[2]
    )
    assert (
        plain["lag up"] == aircraft.rotor.time_constant_up
        and plain["lag down"] == aircraft.rotor.time_constant_down
    )
    for name, value in found.items():
        assert value != plain[name] and 0.6 < value / plain[name] < 1.6


def test_landings_are_flown_from_the_ground_each_with_its_limit(monkeypatch):
    monkeypatch.setattr(landing, "is_installed", lambda name: name == "mujoco")
    row = {"outcome": "completed", "touch_speed_mps": 0.1, "force_n": 120.0, "stands": True}
    monkeypatch.setattr(
        landing, "landing_of", lambda flight, engine: {**row, "scenario": flight.scenario}
    )
    told = []
    rows = landing.landings(told.append)
    assert rows["three_star, mujoco"]["passes"] is True and rows["f450, mujoco"]["passes"] is False
    assert (
        rows["three_star, mujoco"]["force_limit_n"] == 150.0
        and rows["f450, mujoco"]["force_limit_n"] == 100.0
    )
    assert rows["4 joined modules, mujoco"]["scenario"] == "module_hover"
    assert told[0].startswith(f"0 of {len(rows)}: ") and told[-1].startswith(
        f"{len(rows) - 1} of "
    )
    flights = {each.name: each for each in landing.flights()}
    assert flights["f450"].settings == {
        "start.mode": "ground",
        "reference.duration": 1.0,
        "sensors": "none",
    }
    assert flights["m100_gripper"].settings["rates.physics_hz"] == 2000.0
    assert flights["4 joined modules"].settings == {
        "modules.count": 4,
        "vehicles.0.reference.duration": 10.0,
    }
    quick = list(landing.flights(quick=True))
    assert [each.name for each in quick] == ["f450", "2 joined modules"]
    assert quick[1].settings == {"modules.count": 2, "vehicles.0.reference.duration": 3.0}
    edge = {**row, "touch_speed_mps": 0.119, "force_n": 100.0}
    assert landing.is_soft(edge, 100.0) and not landing.is_soft(
        {**edge, "touch_speed_mps": 0.12}, 100.0
    )


def test_the_peg_is_flown_with_every_preset_and_seed_beside_a_stiff_one(monkeypatch, tmp_path):
    flown = []

    def fly_it(folder, name, scenario, **options):
        flown.append((name, scenario, options))
        return {"force_steady_n": 12.0 if name.endswith("stiff") else 4.0}

    monkeypatch.setattr(contact, "fly", fly_it)
    monkeypatch.setattr(contact, "create_run_folder", lambda out, name: tmp_path / name)
    told = []
    rows = contact.peg_over_seeds(("default", "paper"), told.append)
    assert list(rows)[:2] == ["default 1", "default 2"] and len(rows) == 10
    assert all(row["push_ratio"] == 3.0 for row in rows.values())
    name, scenario, options = flown[1]
    assert (name, scenario) == ("default 1 stiff", "peg_in_hole")
    assert options == {
        "gains": "default",
        "seed": 1,
        "assignments": ("compare={}", "control.admittance=false"),
    }
    assert flown[-2][2] == {"gains": "paper", "seed": 5, "assignments": ("compare={}",)}
    assert told[3].startswith("3 of 10: default 4, ")
    rows = contact.peg_over_rates(quiet)
    assert list(rows) == ["500 Hz", "1000 Hz", "2000 Hz"]
    assert flown[-3][2]["assignments"][1] == "rates={physics_hz: 500.0, control_hz: 250.0}"


def test_a_step_is_seen_half_a_second_later_along_its_own_axis(monkeypatch, tmp_path):
    flown, read = {}, []
    monkeypatch.setattr(contact, "create_run_folder", lambda out, name: tmp_path)
    monkeypatch.setattr(
        contact, "fly", lambda folder, name, scenario, **options: flown.update({name: options})
    )

    def estimates(folder, since):
        read.append((folder.name, since))
        row = np.array([4.0, 4.5, 5.0, 0.5, 0.75, 1.0])
        return (
            np.stack([row, -2.0 * row]) if folder.name == "noisy" else np.stack([row, 0.0 * row])
        )

    monkeypatch.setattr(contact, "_estimates", estimates)
    rows = contact.observer_steps(quiet)
    shares = [
        rows[f"step {name}"]["seen_of_it"] for name in ("x", "y", "z", "roll", "pitch", "yaw")
    ]
    assert shares == pytest.approx([0.8, 0.9, 1.0, 0.5, 0.75, 1.0])
    assert rows["noisy hover"] == {"bias_force_n": 2.5, "bias_torque_nm": 0.5}
    assert read[0] == ("x", 3.5) and read[-1] == ("noisy", 2.0)
    assert flown["pitch"]["duration"] == 4.0
    assert flown["pitch"]["assignments"] == (
        "disturbances=[{at: 3.0, until: 99.0, force: [0.0, 0.0, 0.0], torque: [0.0, 1.0, 0.0]}]",
    )
    assert (
        flown["noisy"]["duration"] == 12.0
        and flown["noisy"]["assignments"][-1] == "control.admittance=true"
    )
