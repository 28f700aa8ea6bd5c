# SPDX-License-Identifier: BSD-3-Clause
"""An end effector's path on a platform of bodies: the same path, start and law in the suite's own loop."""

from pathlib import Path
from typing import Any

import numpy as np

from iap_control.laws.end_effector import EndEffectorGains
from iap_description.config.plain_yaml import parse_yaml, read_yaml
from iap_description.config.record import merged
from iap_simulation.arm.scenario import PLANT, ArmScenario, Start, resolve_arm
from iap_simulation.scenario.resolving import Options, resolve_tree
from iap_simulation.scenario.scenario import Scenario

MULTIBODY = "multibody"  # as the plant of an arm's scenario
DEFAULTS_FILE = (
    Path(__file__).parents[1] / "data" / "arm_multibody.yaml"
)  # what that scenario does not say
TAKEN = ("path", "start", "duration", "seed", "control")  # from it


def is_multibody(assignments: tuple[str, ...]) -> bool:
    """True if assignments, each ``dotted.path=YAML value``, choose bodies as the plant."""
    pairs = [each.partition("=") for each in assignments]
    values = [text for path, _, text in pairs if path == PLANT]
    return bool(values) and parse_yaml(values[-1], source=f"--set {PLANT}") == MULTIBODY


def resolve_multibody(name: str, options: Options) -> tuple[Scenario, dict[str, Any]]:
    """Resolve an arm's scenario, by name or path, as a flight of a platform of bodies.

    Assignments to `path`, `duration`, `metrics.settle`, and to those keys of `start` and `control` that the arm's
    scenario has, are that scenario's, the others the flight's.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    law: list[str] = []
    flight: list[str] = []
    for assignment in options.assignments:
        path = assignment.split("=", 1)[0]
        if path != PLANT:
            (law if _is_of_law(path) else flight).append(assignment)
    scenario, _ = resolve_arm(name, tuple(law), seed=options.seed, duration=options.duration)
    tree = merged(read_yaml(DEFAULTS_FILE), _taken(scenario))
    home = f"platform.arm.home={np.deg2rad(scenario.start.joints_deg).tolist()}"
    left = options.model_copy(update={"assignments": (home, *flight), "duration": None})
    return resolve_tree(scenario.scenario, tree, str(DEFAULTS_FILE), left)


def _is_of_law(path: str) -> bool:
    first, *rest = path.split(".")
    fields = {
        "start": Start.model_fields,
        "control": EndEffectorGains.model_fields,
        "metrics": ("settle",),
    }
    if first in fields:
        return bool(rest) and rest[0] in fields[first]
    return first in TAKEN


def _taken(scenario: ArmScenario) -> dict[str, Any]:
    """Keys of the flight that the arm's scenario gives."""
    start, law = scenario.start, scenario.control.law.model_dump(mode="json")
    motion = {"path": scenario.path.model_dump(mode="json"), "control": law}
    place = {"position": list(start.position), "rpy_deg": [0.0, 0.0, start.yaw_deg]}
    return {
        "description": scenario.description,
        "seed": scenario.seed,
        "reference": {"duration": scenario.duration, **place},
        "arm": {"motion": {**motion, "rate": scenario.rates.control_hz}},
        "metrics": {"window": [scenario.metrics.settle, scenario.duration]},
    }
