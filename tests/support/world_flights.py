# SPDX-License-Identifier: BSD-3-Clause
"""Worlds with contact beside their single runs: every bit of all vehicles, and how they end."""

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from iap_description.errors import FlightFailed
from iap_description.math.lanes import LANES
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

WIDTHS = {
    "draw.friction": 0.5,
    "draw.mass": 0.1,
    "draw.com": 0.002,
    "draw.thrust": 0.05,
    "draw.rotor_lag": 0.3,
    "draw.force": 0.3,
    "draw.wind_speed": 0.5,
}
BATCHES = (1, 2, 3, 7, LANES + 1)  # worlds: alone, fewer and more than threads, in two blocks
NOISE = {"position": 0.001, "attitude_deg": 0.1}
Ends = list[tuple[Any, ...]]


class Case(NamedTuple):
    """Worlds that fly together, one of them, threads, a period whose snapshot they go on from, and noise."""

    seeds: range
    one: int
    threads: int
    kept: int
    settings: dict[str, Any]
    noise: dict[str, float]

    @property
    def holds_off(self) -> bool:
        """True if what pushes, or thrust that is off, may keep vehicles from touching."""
        drawn = self.settings["draw.force"] or self.settings["draw.thrust"]
        return bool(drawn) or "wind.speed" in self.settings


@st.composite
def cases(draw, most=40, widths=WIDTHS, kept=(60, 150)):
    """A batch of some worlds, `most` at most, of which one is looked at."""
    counts = [count for count in BATCHES if count <= most]
    count, first = draw(st.sampled_from(counts)), draw(st.integers(0, 10**9))
    one, threads = draw(st.integers(0, count - 1)), draw(st.integers(1, 3))
    scales = {key: draw(st.sampled_from([0.0, 1.0])) for key in widths}
    wind = draw(st.sampled_from([{}, {"wind.speed": 2.0, "wind.turbulence": 3.0}]))
    noise = draw(st.sampled_from([{}, NOISE]))
    drawn = {key: scales[key] * width for key, width in widths.items()}
    period = draw(st.integers(*kept))
    return Case(range(first, first + count), one, threads, period, {**drawn, **wind}, noise)


def flown_alone(
    scenario: Any, periods: int, command: Callable[[Simulation], None] = lambda _: None
) -> tuple[Any, ...]:
    """States of all bodies, rotor speeds, objects and outcome of a single run, whose arms may be commanded."""
    why = None
    with Simulation(Flight.of(scenario)) as simulation:
        try:
            for _ in range(periods):
                command(simulation)
                simulation.step()
        except FlightFailed as failure:
            why = failure.outcome
        plant = simulation.loop.plant
        rpm = b"".join(each.rpm[0].tobytes() for each in plant.propulsion)
        x, objects = plant.engine.state()[0], plant.engine.object_states()
        return x.tobytes(), rpm, objects.tobytes(), why


def ends_of(worlds: Worlds) -> Ends:
    """The same of each world."""
    failures = [worlds.failure(i) for i in range(len(worlds.seeds))]
    plant, objects = worlds.plant, worlds.object_states
    return [
        (
            plant.engine.state()[i].tobytes(),
            b"".join(each.rpm[i].tobytes() for each in plant.propulsion),
            objects[i].tobytes(),
            None if why is None else why.outcome,
        )
        for i, why in enumerate(failures)
    ]


def assert_one_flight(
    made: Callable[..., Worlds],
    case: Case,
    periods: int,
    command: Callable[[Any], None] = lambda _: None,
    meets: Callable[[Worlds, int], bool] = lambda worlds, one: bool(
        worlds.plant.engine.contact_forces()[one].any()
    ),
) -> Worlds:
    """Compare every bit of worlds at the end: together, alone, from a snapshot, and as the single run.

    Args:
        made: makes the worlds of seeds, on so many threads.
        case: that is flown.
        periods: control periods.
        command: is called before each of them, with worlds or a single run.
        meets: whether the world that is looked at meets something.
    """
    worlds, has_touched = made(case.seeds, threads=case.threads), False
    for k in range(periods):
        if k == case.kept:
            snapshot = worlds.snapshot()
        command(worlds)
        worlds.advance()
        has_touched |= meets(worlds, case.one)
    ends = ends_of(worlds)
    worlds.restore(snapshot)
    _fly(worlds, periods - case.kept, command)
    assert ends_of(worlds) == ends
    alone = made([case.seeds[case.one]])
    _fly(alone, periods, command)
    assert ends_of(alone) == [ends[case.one]]
    assert flown_alone(worlds.world(case.one), periods, command) == ends[case.one]
    assert has_touched or case.holds_off
    return worlds


def _fly(worlds: Worlds, periods: int, command: Callable[[Any], None]) -> None:
    for _ in range(periods):
        command(worlds)
        worlds.advance()
