# SPDX-License-Identifier: BSD-3-Clause
"""Flights, localisations, fits and the list hand on what was typed, write what they say, and end by how it went."""

import io
import json
import math
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from iap_bringup.cli import flight, identify_rotorcraft, live_pages, localize, replay
from iap_bringup.cli.arguments.flights import WHAT
from iap_bringup.cli.main import main, parse
from iap_description.errors import BadInput
from iap_simulation.open_loop.replayed import KINDS
from iap_simulation.runs.run import record


@pytest.fixture
def flown(monkeypatch):
    """Flights that are made up, and what was done of them."""
    done = []
    scenario = SimpleNamespace(scenario="hover", compare={"calm": ("wind.speed=0",)})
    made = SimpleNamespace(recorded=(), duration=2.0, scenario=scenario)
    outcome = {"outcome": "completed"}

    def resolve(name, choices):
        done.append(("resolve", choices.assignments))
        return scenario, {"tree": name}

    def execute(flight, folder, tree, how):
        done.append(("fly", tree, how.realtime, how.view, how.viewer is not None))
        return SimpleNamespace(
            metrics=outcome, interrupted=False, failure="", folder=folder, summary="x"
        )

    @contextmanager
    def pages(options, live, console):
        done.append("pages")
        yield SimpleNamespace(linger=lambda news, wants: done.append(("linger", news)))

    monkeypatch.setattr(flight, "resolve", resolve)
    monkeypatch.setattr(flight, "Flight", SimpleNamespace(of=lambda scenario: made))
    monkeypatch.setattr(flight, "execute", execute)
    monkeypatch.setattr(flight, "live_pages", pages)
    monkeypatch.setattr(flight, "_untouched", lambda scenario: [])
    monkeypatch.setattr(flight, "_unused_keys", lambda scenario, options: [])
    monkeypatch.setattr(
        flight, "_recording_lines", lambda flight, parent: done.append(("beside", parent)) or []
    )
    monkeypatch.setattr(flight.report, "flight_text", lambda scenario, duration: f"{duration} s")
    monkeypatch.setattr(flight.report, "show", lambda console, result: done.append("shown"))
    monkeypatch.setattr(
        flight,
        "_fly_compared",
        lambda result, compared, folder, progress: done.append(sorted(compared)) or result,
    )
    monkeypatch.setattr(
        flight, "_draw", lambda folder, say, *, plots, page: done.append(("draw", plots, page))
    )
    monkeypatch.setattr(flight, "find_spec", lambda name: True)
    monkeypatch.setattr(
        "iap_bringup.viewing.live_flight.LiveFlight",
        lambda flight, *, is_paced: (
            done.append(("paced", is_paced)) or SimpleNamespace(wants_reset=False)
        ),
    )
    return done, outcome


def test_a_scenario_is_flown_drawn_and_shown_beside_what_it_is_compared_with(
    flown, tmp_path, capsys
):
    done, _ = flown
    out = tmp_path / "r"
    assert main(["run", "hover", "--set", "a=1", "--out", str(out), "--json"]) == 0
    assert done == [
        ("resolve", ("a=1",)),
        ("resolve", ("a=1", "compare={}", "wind.speed=0")),
        ("beside", out),
        ("fly", {"tree": "hover"}, False, False, False),
        ["calm"],
        ("draw", True, True),
        "shown",
    ]
    assert json.loads(capsys.readouterr().out) == {"outcome": "completed"}


@pytest.mark.parametrize(
    ("words", "flight_as", "drawn"),
    [
        (["--no-plot"], (False, False, False), [("draw", False, True)]),
        (["--no-view"], (False, False, False), [("draw", True, False)]),
        (["--no-plot", "--no-view"], (False, False, False), []),
        (["--realtime"], (True, False, False), [("draw", True, True)]),
        (["--view"], (False, True, False), [("draw", True, True)]),
        (["--view", "web", "--realtime"], (False, False, True), [("draw", True, True)]),
    ],
)
def test_options_of_a_flight_reach_it(words, flight_as, drawn, flown, tmp_path):
    done, _ = flown
    assert main(["run", "hover", *words, "--out", str(tmp_path / "r")]) == 0
    (fly,) = [each for each in done if each[0] == "fly"]
    assert fly[2:] == flight_as and [each for each in done if each[0] == "draw"] == drawn
    is_web = "web" in words
    assert ("pages" in done) is is_web and (("paced", True) in done) is is_web
    assert (("linger", "The flight is over.") in done) is is_web


def test_a_flight_that_ended_badly_is_reported_and_ends_by_one(flown, tmp_path, capsys):
    _, outcome = flown
    outcome["outcome"] = "crashed"
    assert main(["run", "hover", "--out", str(tmp_path / "r")]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "iap: crashed"
    assert flight._news(SimpleNamespace(failure="It crashed.")) == "It crashed."


def test_a_replay_has_the_keys_and_the_offset_that_were_typed(flown, monkeypatch, tmp_path):
    asked = []

    def resolve_replay(command, choices):
        asked.append((command, choices.assignments))
        return SimpleNamespace(scenario="replay"), {}

    monkeypatch.setattr(replay, "resolve_replay", resolve_replay)
    monkeypatch.setattr(replay, "fly", lambda scenario, tree, options: 0)
    assert (
        main(["replay", "a.bag", "--topic", "/t", "--offset", "1", "2", "3", "--from", "0.5"]) == 0
    )
    assert main(["replay", "a.bag"]) == 0
    assert asked[0][0] == {"path": "a.bag", "topic": "/t", "begin": 0.5}
    assert asked[0][1] == ("offset=[1.0, 2.0, 3.0]",) and asked[1] == ({"path": "a.bag"}, ())


def test_what_of_a_log_is_flown_becomes_topics(monkeypatch):
    asked = []
    monkeypatch.setattr(
        replay, "resolve_replay", lambda command, choices: (asked.append(command), {})
    )
    monkeypatch.setattr(replay, "fly", lambda scenario, tree, options: 0)
    for what in ("motion", "position", "velocity"):
        assert main(["replay", "a.ulg", "--what", what]) == 0
    topics = [(each.get("topic"), each.get("actual_topic")) for each in asked]
    assert topics == [
        (None, None),
        ("position_setpoint", "position"),
        ("velocity_setpoint", "position"),
    ]
    assert main(["replay", "a.ulg", "--what", "position", "--topic", "position_setpoint:2"]) == 0
    assert asked[-1]["topic"] == "position_setpoint:2"


def test_every_kind_of_replay_is_one_that_flies():
    assert set(WHAT) == {*replay.TOPICS, *KINDS}


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        (["--horizon", "1"], "--what motion has no windows"),
        (["--what", "motors", "--horizon", "0.01"], "0.1 to 10 s"),
        (["--what", "motors", "--topic", "position"], "leave out --topic"),
        (["--what", "motors", "--engine", "pybullet"], "is flown by closed_form"),
    ],
)
def test_options_that_a_replay_does_not_have_are_refused(typed, reason, capsys):
    assert main(["replay", "a.ulg", *typed]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.slow
def test_motors_of_a_run_are_flown_in_open_loop_and_kept(tmp_path, capsys):
    run, out = tmp_path / "run", tmp_path / "out"
    record("velocity_steps", folder=run, duration=14.0)
    typed = ["replay", str(run), "--what", "motors", "--horizon", "0.5", "--out", str(out)]
    assert main([*typed, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "metrics.json").read_text())
    assert [each["seconds"] for each in printed["horizons"]] == [0.1, 0.25, 0.5]
    last = printed["horizons"][-1]
    assert last["attitude_deg"]["model"] < 0.1 * last["attitude_deg"]["stays"]
    assert last["position_m"]["model"] < 0.1 * last["position_m"]["constant_velocity"]
    assert (out / "plots" / "open_loop.png").stat().st_size > 10_000


@pytest.mark.parametrize("has_plots", [True, False])
def test_a_localisation_uses_its_choices_and_ends_by_one_where_a_method_is_lost(
    has_plots, monkeypatch, tmp_path, capsys
):
    done = []
    aircraft = [SimpleNamespace(name="drone_1")]
    choice = SimpleNamespace(preset="euroc")
    from iap_estimation.datasets.dataset import FrontendChoice

    class Dataset(SimpleNamespace):
        pass

    dataset = Dataset(aircraft=aircraft, source="s", name="d", end=9.0, frontend=choice)
    methods = {"vio": SimpleNamespace(has_failed=False, is_lost=False, outcome="completed")}
    monkeypatch.setattr(
        localize, "open_dataset", lambda path, choices: done.append(choices) or dataset
    )
    monkeypatch.setattr(
        localize,
        "replace",
        lambda data, frontend: (
            done.append(frontend) or Dataset(**{**vars(data), "frontend": frontend})
        ),
    )
    settings = SimpleNamespace(model_dump=lambda mode: {})
    monkeypatch.setattr(localize, "load_settings", lambda *names: done.append(names) or settings)
    monkeypatch.setattr(localize, "check_methods", lambda names, data: done.append(names))
    monkeypatch.setattr(
        localize,
        "understand",
        lambda data, corrections: (
            done.append(corrections) or SimpleNamespace(dataset=data, lines=[], record={"r": 1})
        ),
    )
    monkeypatch.setattr(
        localize,
        "localize",
        lambda data, names, s, **k: (
            done.append(("localize", sorted(k))) or SimpleNamespace(methods=methods)
        ),
    )
    evaluation = SimpleNamespace(metrics={"m": 1})
    monkeypatch.setattr(
        localize, "evaluate", lambda results, record: done.append(record) or evaluation
    )
    for name in ("write_config", "write_results"):
        monkeypatch.setattr(localize, name, lambda *a, name=name: done.append(name))
    monkeypatch.setattr(localize, "show_localization", lambda *a: done.append("shown"))
    monkeypatch.setattr(
        "iap_bringup.plots.localization.write_localization_plots",
        lambda folder, e: done.append(folder.name) or [folder / "paths.png"],
    )
    words = [
        "--method",
        "vio, joint",
        "--frontend",
        "euroc",
        "--from",
        "2",
        "--gyro-scale",
        "0.5",
        "--json",
    ]
    words += [] if has_plots else ["--no-plot"]
    assert main(["localize", "d", *words, "--out", str(tmp_path / "o")]) == 0
    assert (
        ["vio", "joint"] in done
        and FrontendChoice("euroc", "as asked for") in done
        and {"r": 1} in done
    )
    (corrections,) = [each for each in done if isinstance(each, localize.Corrections)]
    assert corrections == localize.Corrections(None, 0.5, None, 2.0)
    assert ("plots" in done) is has_plots and ("localize", ["progress"]) in done
    assert json.loads(capsys.readouterr().out) == {"m": 1}
    for change in ({"has_failed": True}, {"is_lost": True}):
        methods["joint"] = SimpleNamespace(
            **{"has_failed": False, "is_lost": False, "outcome": "lost", **change}
        )
        assert main(["localize", "d", *words, "--out", str(tmp_path / str(change))]) == 1
        assert capsys.readouterr().err.endswith("iap: joint lost\n")


def test_the_length_of_data_counts_from_where_they_do():
    for end, begin, length in (
        (9.0, None, 9.0),
        (9.0, 2.0, 7.0),
        (9.0, -5.0, 9.0),
        (9.0, 12.0, 0.0),
        (None, 2.0, None),
    ):
        assert localize._length(SimpleNamespace(end=end), begin) == length
    plain = localize._corrections(parse(["localize", "d"]))
    assert plain.gyro_scale == 1.0 and plain.begin == -math.inf and plain.accel_scale is None


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--accel-scale", "0", "expected a factor other than 0"),
        ("--gyro-scale", "0", "expected a factor"),
        ("--gyro-scale", "nan", "expected a number"),
        ("--image-delay", "inf", "expected a number"),
        ("--accel-scale", "-1e308", "of at most 1e"),
        ("--from", "nan", "expected"),
    ],
)
def test_corrections_that_are_none_are_refused(option, value, said):
    with pytest.raises(BadInput, match=f"{option} .*{said}"):
        localize._corrections(parse(["localize", "d", f"{option}={value}"]))
    localize._corrections(parse(["localize", "d", "--image-delay=0", "--from=0"]))


def test_fitted_and_held_out_logs_are_apart_unless_forced(monkeypatch, tmp_path):
    logs = [tmp_path / f"{k}.ulg" for k in range(3)]
    for each in logs:
        each.touch()
    monkeypatch.setattr(identify_rotorcraft, "read_single", lambda path: path.name)
    monkeypatch.setattr(
        identify_rotorcraft,
        "choose_paths",
        lambda paths, fit, held: ([logs[0]], [logs[1], logs[0]]),
    )
    options = SimpleNamespace(logs=logs, fit=None, validate=None, force=False)
    with pytest.raises(BadInput, match=r"0.ulg: fitted and held out; --force"):
        identify_rotorcraft._split(options)
    options.force = True
    assert identify_rotorcraft._split(options) == (["0.ulg"], ["1.ulg", "0.ulg"])
    monkeypatch.setattr(
        identify_rotorcraft, "choose_paths", lambda paths, fit, held: ([logs[0]], logs[1:])
    )
    options.force = False
    assert identify_rotorcraft._split(options) == (["0.ulg"], ["1.ulg", "2.ulg"])


def test_a_run_of_several_aircraft_is_no_log_of_one(monkeypatch):
    monkeypatch.setattr(identify_rotorcraft, "is_run", lambda path: path.name == "run")
    monkeypatch.setattr(identify_rotorcraft, "open_any", lambda path: "log")
    monkeypatch.setattr(identify_rotorcraft, "read_run", lambda path: ["one", "two"])
    assert identify_rotorcraft.read_single(Path("a.ulg")) == "log"
    with pytest.raises(BadInput, match="a recording of 2 aircraft"):
        identify_rotorcraft.read_single(Path("run"))
    monkeypatch.setattr(identify_rotorcraft, "read_run", lambda path: ["one"])
    assert identify_rotorcraft.read_single(Path("run")) == "one"


@pytest.mark.parametrize(
    ("host", "allowed", "may"),
    [
        ("127.0.0.1", False, True),
        ("127.0.0.1", True, True),
        ("0.0.0.0", True, True),
        ("0.0.0.0", False, False),
    ],
)
def test_pages_for_others_only_look_on_unless_they_are_allowed_more(host, allowed, may):
    options, console = (
        SimpleNamespace(host=host, allow_control=allowed),
        Console(file=io.StringIO()),
    )
    assert live_pages.may_control(options, console) == may
    said = console.file.getvalue()
    assert said == (
        "" if may else "pages at 0.0.0.0 only look on; --allow-control lets them control\n"
    )
