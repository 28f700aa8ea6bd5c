# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap replay``: a recorded motion in closed loop, or a log's own commands in open loop."""

import argparse
import json
import logging
import sys
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from iap_bringup.cli.flight import fly
from iap_bringup.cli.identify_rotorcraft import read_single
from iap_bringup.cli.options import pose_keys, pose_words, scenario_options
from iap_bringup.plots.open_loop import draw_steps, draw_windows
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.horizons import horizon_metrics, horizon_table
from iap_bringup.terminal.next_step import show_path
from iap_bringup.terminal.progress import work_bar
from iap_description.errors import BadInput
from iap_io.plots.plot_style import write_plot
from iap_io.runs.run_folder import new_folder, write_metrics
from iap_simulation.flights.flight import Flight
from iap_simulation.identification.rotorcraft.prediction import HORIZONS
from iap_simulation.identification.settings import load_settings
from iap_simulation.open_loop.log_trials import TOPICS
from iap_simulation.open_loop.replayed import OpenLoopReplay, replay_open_loop
from iap_simulation.open_loop.step_response import SPAN, AxisResponses, StepResponse
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import resolve
from iap_simulation.scenario.scenario import Scenario

SCENARIO, ENGINE = "hover", "closed_form"
MAX_HORIZON = 10.0  # [s]


def replay(options: argparse.Namespace) -> int:
    """Fly what `--what` says of a recording."""
    if options.what not in TOPICS:
        return _replay_open_loop(options)
    if options.horizon is not None:
        raise BadInput(f"--horizon: --what {options.what} has no windows")
    reader = logging.getLogger("iap_io.trajectories")
    level = reader.level
    reader.setLevel(logging.ERROR)  # its notes are shown by the report
    try:
        return _replay_closed_loop(options)
    finally:
        reader.setLevel(level)


def _replay_closed_loop(options: argparse.Namespace) -> int:
    choices = scenario_options(options)
    if options.offset is not None:
        choices = choices.and_set((f"offset={options.offset}",))
    words = {f"reference.{key}": each for key, each in pose_words(options).items()}
    choices = choices.model_copy(update={"words": words})
    keys = {"path": options.recording, **TOPICS[options.what], **pose_keys(options)}
    scenario, tree = resolve_replay(keys, choices)
    return fly(scenario, tree, options)


def _replay_open_loop(options: argparse.Namespace) -> int:
    """Fly a log's commands from windows along its flight, show errors and keep them."""
    console = make_console(stderr=options.json)
    seconds, scenario = _horizons(options), _scenario(options)
    log = read_single(Path(options.recording))
    with work_bar(console, "flying"):
        replay = replay_open_loop(log, options.what, Flight.of(scenario).spec, seconds)
    metrics = _metrics(replay, options.what, scenario)
    with new_folder(options.out, f"replay_{log.path.stem}") as folder:
        write_metrics(folder, metrics)
        if not options.no_plot:
            write_plot(folder / "plots" / "open_loop.png", partial(draw_windows, replay=replay))
            if replay.steps:
                draw = partial(draw_steps, steps=replay.steps)
                write_plot(folder / "plots" / "step_response.png", draw)
    _show(
        console, replay, f"{options.what} of {log.path.name} on {metrics['platform']}, RMS error"
    )
    show_path(console, folder, "run folder")
    if options.json:
        sys.stdout.write(json.dumps(metrics, allow_nan=False) + "\n")
    return 0


def _horizons(options: argparse.Namespace) -> tuple[float, ...]:
    if options.horizon is None:
        return HORIZONS
    if not HORIZONS[0] <= options.horizon <= MAX_HORIZON:
        raise BadInput(f"--horizon {options.horizon:g}: {HORIZONS[0]:g} to {MAX_HORIZON:g} s")
    return (*(each for each in HORIZONS if each < options.horizon), options.horizon)


def _scenario(options: argparse.Namespace) -> Scenario:
    """The scenario of a flight: a platform that hovers, in the closed form.

    Raises:
        BadInput: an option that is for other replays.
    """
    automatic = {key for key, value in pose_keys(options).items() if value == "auto"}
    poses = [text for key, text in pose_words(options).items() if key not in automatic]
    if poses:
        raise BadInput(f"--what {options.what}: no poses are read: leave out {', '.join(poses)}")
    if options.engine not in (None, ENGINE):
        raise BadInput(f"--engine {options.engine}: --what {options.what} is flown by {ENGINE}")
    choices = scenario_options(options).model_copy(update={"engine": ENGINE})
    if choices.platform is None:
        choices = choices.model_copy(update={"platform": load_settings().rotorcraft.start})
    return resolve(SCENARIO, choices)[0]


def _metrics(replay: OpenLoopReplay, what: str, scenario: Scenario) -> dict[str, Any]:
    tilts = {"platform": replay.tilt, "fitted_response": replay.fitted}
    errors = {name: each.response for name, each in tilts.items() if each is not None}
    if replay.tilt is not None:
        errors["recorded"] = replay.tilt.tilt
    metrics: dict[str, Any] = {
        "log": replay.log.path.name,
        "what": what,
        "platform": scenario.vehicles[0].platform.name,
        "horizons": [horizon_metrics(each) for each in replay.horizons],
        "notes": list(replay.notes),
    }
    if errors:
        metrics["tilt_rmse_deg"] = errors
    if replay.steps:
        metrics["step_response"] = {axis: _steps(each) for axis, each in replay.steps.items()}
    return metrics


def _steps(responses: AxisResponses) -> dict[str, dict[str, float | None] | None]:
    """Figures of the responses of an axis; None where none was found."""
    return {
        name: None
        if each is None
        else {"rise_time_s": each.rise_time, "overshoot": each.overshoot}
        for name, each in responses._asdict().items()
    }


def _show(console: Console, replay: OpenLoopReplay, title: str) -> None:
    for note in replay.notes:
        console.print(note, highlight=False, soft_wrap=True)
    console.print(horizon_table(title, replay.horizons))
    for name, each in (("the platform", replay.tilt), ("a fitted lag", replay.fitted)):
        if each is not None:
            text = f"tilt, whole flight: {each.response:.2f} deg off by {name}, of {each.tilt:.2f} deg"
            console.print(text, highlight=False)
    for axis, responses in replay.steps.items():
        texts = [f"{name} {_rise(each)}" for name, each in responses._asdict().items()]
        console.print(f"{axis}: {'; '.join(texts)}", highlight=False)


def _rise(response: StepResponse | None) -> str:
    if response is None:
        return "shows no step response: set-points say too little of it"
    if response.rise_time is None:
        return f"does not reach 63 % of a step within {SPAN:g} s"
    return f"63 % of a step after {response.rise_time:.3f} s, overshoot {response.overshoot:.0%}"
