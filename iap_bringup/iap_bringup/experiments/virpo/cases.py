# SPDX-License-Identifier: BSD-3-Clause
"""Flights of `iap experiment virpo_tables`, and the methods that estimate each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from iap_bringup.experiments.piloted_flights import (
    RecordedCommands,
    flight_folder,
    resolve_recording,
)
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

Base = Literal["vio", "vio_uwb", "virpo", "joint", "drift_filter"]
Term = Literal["pos", "velo", "att", "drift"]
ALL_TERMS: tuple[Term, ...] = ("pos", "velo", "att", "drift")
SENSORS = "stereo"
SEEDS = (1, 2, 3)
QUICK_SECONDS = 8.0


@dataclass(frozen=True)
class Method:
    """One way to estimate.

    Attributes:
        base: of the estimators.
        preset: of its weights: matched to the noise, or the paper's.
        terms: of virpo's residuals.
        neighbours: whether the neighbours' odometry is virpo as well (full), or vio_uwb (self).
        size: most constraints per keyframe, which is the size of F_k; None takes all.
        anchors: how many of the anchors count; None takes all.
        pixels: deviation of white noise that the tracks get, and that the weights know of [px]; None
            leaves them as the images gave them.
    """

    base: Base
    preset: Literal["default", "paper"] = "default"
    terms: tuple[Term, ...] = ALL_TERMS
    neighbours: Literal["full", "self"] = "full"
    size: int | None = None
    anchors: int | None = None
    pixels: float | None = None


METHODS: dict[str, Method] = {
    "vio": Method("vio"),
    "vio_uwb": Method("vio_uwb"),
    "virpo": Method("virpo"),
    "virpo_paper": Method("virpo", preset="paper"),
    "joint": Method("joint"),
    "drift_filter": Method("drift_filter"),
    **{f"anchors_{n}": Method("vio_uwb", anchors=n) for n in (1, 2, 3)},
    "self_phy": Method("virpo", neighbours="self"),
    "pos_drift": Method("virpo", terms=("pos", "drift")),
    "pos_velo_drift": Method("virpo", terms=("pos", "velo", "drift")),
    "pos_att_drift": Method("virpo", terms=("pos", "att", "drift")),
    "all_kin": Method("virpo", terms=("pos", "velo", "att")),
    **{f"size_{n}": Method("virpo", size=n) for n in (1, 3, 5)},
    "vio_1px": Method("vio", pixels=1.0),
    "vio_uwb_1px": Method("vio_uwb", pixels=1.0),
    "virpo_1px": Method("virpo", pixels=1.0),
    "joint_1px": Method("joint", pixels=1.0),
}
MAIN = ("vio", "vio_uwb", "virpo", "virpo_paper", "joint", "drift_filter")
ANCHORS = ("vio", "anchors_1", "anchors_2", "anchors_3", "vio_uwb")  # 0 to 4 of them
TERM_METHODS = ("pos_drift", "pos_velo_drift", "pos_att_drift", "all_kin")
ABLATIONS = ("self_phy", *TERM_METHODS)
SIZES = ("size_1", "size_3", "size_5")
NOISY = ("vio_1px", "vio_uwb_1px", "virpo_1px", "joint_1px")  # as cameras in hand see


@dataclass(frozen=True)
class LocalizationCase:
    """One flight and what is estimated from it.

    Attributes:
        name: in results.
        title: in tables and figures.
        source: a scenario's name, or the path of a recorded command.
        scene: where.
        methods: names of `METHODS`.
        bodies: that are judged, `center` last.
        platform: None is the scenario's own.
        offset: of a recorded command [m].
        duration: None is as long as it is [s].
        sensors: preset of them.
        frontend: settings of what follows images.
        settings: further keys of the scenario.
        is_piloted: whether heights are the VIO's alone, since the anchors are far and low (TABLE XI).
    """

    name: str
    title: str
    source: str | Path
    scene: str
    methods: tuple[str, ...] = MAIN
    bodies: tuple[str, ...] = ("drone_1", "drone_2", "drone_3", "center")
    platform: str | None = None
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    duration: float | None = None
    sensors: str = SENSORS
    frontend: str = "default"
    settings: tuple[str, ...] = ()
    is_piloted: bool = False

    @property
    def drones(self) -> tuple[str, ...]:
        """The aircraft that are judged."""
        return tuple(body for body in self.bodies if body != "center")

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The judged bodies: aircraft, and the central one if it is."""
        centre = {"center": ("center",)} if "center" in self.bodies else {}
        return {"drones": self.drones} | centre

    def resolve(self, seed: int) -> tuple[Scenario, dict[str, Any]]:
        """The flight with all sensors of localisation."""
        options = Options(
            platform=self.platform,
            seed=seed,
            sensors=self.sensors,
            scene=self.scene,
            duration=self.duration,
        ).and_set(self.settings)
        if isinstance(self.source, str):
            return resolve(self.source, options)
        x, y, z = self.offset
        return resolve_recording(
            self.source, self.scene, options.and_set((f"offset=[{x}, {y}, {z}]",))
        )


@dataclass(frozen=True)
class LocalizationStudy:
    """All cases, and the seeds of the noise with which each is estimated."""

    cases: tuple[LocalizationCase, ...]
    seeds: tuple[int, ...]

    def rows(self) -> Iterator[tuple[LocalizationCase, str, tuple[str, ...], str]]:
        """Each case, a row of its tables, the bodies whose mean that is, and a method."""
        for case in self.cases:
            for whose, bodies in case.groups.items():
                yield from (
                    (case, f"{case.name}: {whose}", bodies, method) for method in case.methods
                )

    def case(self, name: str) -> LocalizationCase | None:
        """A case by name; None where the study leaves it out."""
        return next((case for case in self.cases if case.name == name), None)


SEQUENCES = {  # flights that stand for the papers' real ones, whose motions are not published
    "SIAP-1": "a1",
    "SIAP-2": "a2",
    "SIAP-3": "c",
    "SIAP-4": "d",
    "LIAP-1": "line_3",
    "LIAP-2": "line_2",
}
PILOTED = {"b": "narrow_station", "c": "broad_station", "d": "bright_arena"}
_LINES = ("vio", "vio_uwb", "virpo", "joint", "self_phy", "pos_drift", "all_kin")


def _piloted(name: str, scene: str) -> LocalizationCase:
    methods = MAIN if name == "b" else (*MAIN, *ABLATIONS)
    title = f"({name}) {scene.replace('_', ' ')}, scripted pilot"
    return LocalizationCase(name, title, flight_folder(scene), scene, methods, is_piloted=True)


def _figure_eight(name: str, scene: str, methods: tuple[str, ...]) -> LocalizationCase:
    title = f"({name[0]})-{name[1]} {scene.replace('_', ' ')}"
    return LocalizationCase(name, title, "figure_eight", scene, methods)


CASES = (
    LocalizationCase(
        "single",
        "one aircraft, figure-eight, building cluster",
        "figure_eight",
        "building_cluster",
        ANCHORS,
        ("drone_1",),
        platform="f450",
    ),
    _figure_eight("a1", "building_cluster", (*MAIN, *ABLATIONS, *SIZES, *NOISY)),
    _figure_eight("a2", "textured_walls", (*MAIN, *ABLATIONS, *NOISY)),
    _figure_eight("a3", "foggy_arena", MAIN),
    *(_piloted(name, scene) for name, scene in PILOTED.items()),
    LocalizationCase(
        "line_3",
        "three in a line, textured walls",
        "three_line_figure_eight",
        "textured_walls",
        _LINES,
    ),
    LocalizationCase(
        "line_2",
        "two in a line, building cluster",
        "two_line_figure_eight",
        "building_cluster",
        _LINES,
        ("drone_1", "drone_2", "center"),
    ),
)
QUICK = ("a2", "b")


def study(
    *, quick: bool = False, recorded: dict[str, RecordedCommands] | None = None
) -> LocalizationStudy:
    """Flights and estimates of the study.

    Args:
        quick: two short flights, one seed, and of the methods `MAIN` only.
        recorded: recordings in place of the flights of the scripted pilot, by scene.
    """
    cases: Sequence[LocalizationCase] = (
        [_with_recording(case, recorded) for case in CASES] if recorded else CASES
    )
    if not quick:
        return LocalizationStudy(tuple(cases), SEEDS)
    short = [
        replace(case, duration=QUICK_SECONDS, methods=MAIN) for case in cases if case.name in QUICK
    ]
    return LocalizationStudy(tuple(short), SEEDS[:1])


def _with_recording(
    case: LocalizationCase, recorded: dict[str, RecordedCommands]
) -> LocalizationCase:
    """A case with the recording for its scene, if any."""
    if not case.is_piloted or case.scene not in recorded:
        return case
    flight = recorded[case.scene]
    title = f"({case.name}) {flight.path.stem}, {case.scene.replace('_', ' ')}"
    return replace(case, title=title, source=flight.path, offset=flight.offset)
