# SPDX-License-Identifier: BSD-3-Clause
"""The parameters that say which flight a node takes part in; the same ones for every node of a simulation."""

from typing import Any

from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode
from iap_simulation.scenario.scenario import Options, Scenario, resolve, resolve_replay


def resolved_scenario(node: SuiteNode) -> tuple[Scenario, dict[str, Any]]:
    """Declare the parameters and resolve the scenario; also returns its plain tree.

    Raises:
        BadInput: anything unknown, missing or impossible.
    """
    name = node.parameter("scenario", "hover", "Name of a scenario, or the path of a YAML file.")
    replay = _replay(node)
    options = _options(node)
    return resolve_replay(replay, options) if replay["path"] else resolve(name, options)


def vehicle_of_namespace(node: SuiteNode, scenario: Scenario) -> int:
    """The vehicle whose name is the node's namespace.

    Raises:
        BadInput: the scenario has no such vehicle.
    """
    name = node.get_namespace().strip("/")
    names = [vehicle.name for vehicle in scenario.vehicles]
    if name not in names:
        raise BadInput(
            f"namespace '{node.get_namespace()}': {scenario.scenario} has no such vehicle, "
            f"but {', '.join(names)} (remap with -r __ns:=/{names[0]})"
        )
    return names.index(name)


def _replay(node: SuiteNode) -> dict[str, Any]:
    path = node.parameter("bag", "", "Bag or CSV whose commands are flown instead of a scenario.")
    what = "Topic of the bag's commands; empty: the one whose type and name fit."
    topic = node.parameter("topic", "", what)
    what = "Topic of what the real aircraft did, to compare with; empty: none."
    actual = node.parameter("actual_topic", "", what)
    what = "Frames of the bag's numbers: enu or ned; empty: ned for a pair of Points, else enu."
    convention = node.parameter("convention", "", what)
    return {
        "path": path,
        "topic": topic or None,
        "actual_topic": actual or None,
        "convention": convention or None,
    }


def _options(node: SuiteNode) -> Options:
    platform = node.parameter("platform", "", "Platform instead of the scenario's.")
    gains = node.parameter("gains", "", "Gain preset instead of the scenario's.")
    what = "Sensors of every vehicle instead of the scenario's, such as stereo or imu,uwb; none: none."
    sensors = node.parameter("sensors", "", what)
    scene = node.parameter("scene", "", "Scene that is flown in instead of the scenario's.")
    what = "What controllers go by instead of what the scenario says: truth, or a method of localization."
    state_source = node.parameter("state_source", "", what)
    what = "Seed of all noise; -1: the scenario's."
    seed = node.parameter("seed", -1, what, limits=(-1, 2**62))
    what = "Simulated time [s]; 0: the scenario's."
    duration = node.parameter("duration", 0.0, what, limits=(0.0, 1e6))
    what = "KEY=VALUE for any key of the resolved configuration, as --set."
    assignments = node.parameter("assignments", [""], what)
    return Options(
        platform=platform or None,
        gains=gains or None,
        sensors=sensors or None,
        scene=scene or None,
        state_source=state_source or None,
        seed=None if seed < 0 else seed,
        duration=duration or None,
        assignments=tuple(filter(None, assignments)),
    )
