# SPDX-License-Identifier: BSD-3-Clause
"""Latches by the phases that messages say."""

import numpy as np
import pytest

from iap_bringup.nodes.plant_replay import PlantReplay
from iap_description.signals import NO_WRENCH, Reference, Step
from iap_description.states import Command, Level
from iap_io.runs.topics import LATCHES
from iap_physics.latching.latches import PHASES, Latches, Phase
from iap_simulation.scenario.resolving import Options, resolve

DT = 0.005  # [s]


@pytest.mark.parametrize(
    ("phases", "release", "words"),
    [
        ([Phase.OPEN, Phase.CAUGHT, Phase.LOCKED], None, ["caught", "locked"]),
        ([Phase.OPEN, Phase.LOCKED, Phase.SPENT], None, ["caught", "locked", "broken"]),
        ([Phase.OPEN, Phase.CAUGHT, Phase.OPEN], None, ["caught", "lost"]),
        ([Phase.OPEN, Phase.LOCKED, Phase.SPENT], 2 * DT, ["caught", "locked", "released"]),
    ],
)
def test_events_of_a_latch_follow_from_its_phases(
    phases: list[Phase], release: float | None, words: list[str]
) -> None:
    value = "null" if release is None else release
    scenario = resolve("docking", Options(assignments=(f"latches.dock.release={value}",)))[0]
    replay = PlantReplay(scenario)
    row = np.zeros(20)
    row[6] = 1.0
    command, reference = Command.zeros(1), Reference(row, Level.POSE, NO_WRENCH)
    first = Step(0, 0.0, row[None, :13], reference, command, np.zeros((1, 4)))
    for k, phase in enumerate(phases):
        tick, values = first._replace(k=k, t=k * DT), {LATCHES: (PHASES.index(phase),)}
        replay.update([tick, tick], lambda _, topic, values=values: values.get(topic))
    latches = replay.part(Latches)
    assert latches.phase("dock") == phases[-1]
    assert [event.what for event in latches.events] == words
