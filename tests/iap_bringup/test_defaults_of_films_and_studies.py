# SPDX-License-Identifier: BSD-3-Clause
"""What films, pages, studies and bindings take where nobody says otherwise."""

import math
from typing import Any

import pytest
from class_defaults import defaults_of

from iap_bringup.cli.doctor import Finding
from iap_bringup.experiments import docking, engines, firmware, rows
from iap_bringup.experiments.modules.cases import ModuleCase
from iap_bringup.experiments.virpo import cases, light, scores, units
from iap_bringup.films import documented
from iap_bringup.films.film import FilmSettings
from iap_bringup.fuzz.kind import FileKind
from iap_bringup.launching.flight_nodes import LaunchedNode
from iap_bringup.pictures.picture import Viewpoint
from iap_bringup.plots.flight_curves import FlightCurves
from iap_bringup.teleop.mappings import KeyBinding
from iap_bringup.viewing.control import Playback
from iap_bringup.viewing.hand import Order
from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.localization_viewer import LocalizationViewer
from iap_bringup.viewing.run_table import Selection

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
STAR = ("drone_1", "drone_2", "drone_3", "center")
DEFAULTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (FilmSettings, {"rate": 25.0, "size": (960, 540), "follows": True, "begin": None, "end": None,
                    "speed": 1.0, "plot": None}),
    (Viewpoint, {"fov_deg": 35.0}),
    (FlightCurves, {"is_followed": True}),
    (Playback, {"speeds": SPEEDS}),
    (LiveFlight, {"speeds": (*SPEEDS, 0.0)}),
    (LocalizationViewer, {"speed": 1.0, "speeds": ()}),
    (Selection, {"least": -math.inf, "most": math.inf}),
    (Order, {"is_slid": False}),
    (KeyBinding, {"velocity": (0.0, 0.0, 0.0), "rate_deg": (0.0, 0.0, 0.0)}),
    (LaunchedNode, {"restarts": True}),
    (FileKind, {"beside": (), "only": ("",), "in_a_fork": False}),
    (Finding, {"remedy": "", "is_needed": False}),
    (docking.Sizes, {"drawn": 1000, "each": 256, "engine": 100}),
    (engines.EngineFlight, {"seconds": None}),
    (firmware.FirmwareCase, {"settled": None, "speed": 5.0}),
    (rows.Bar, {"at_least": False}),
    (ModuleCase, {"seeds": (1, 2, 3)}),
    (cases.Method, {"preset": "default", "terms": ("pos", "velo", "att", "drift"), "neighbours": "full", "size": None,
                    "anchors": None, "pixels": None}),
    (cases.LocalizationCase, {"bodies": STAR, "platform": None, "offset": (0.0, 0.0, 0.0), "duration": None,
                              "sensors": "stereo", "frontend": "default", "settings": (), "is_piloted": False}),
    (light.Condition, {"settings": ("renderer=physical",)}),
    (scores.TrajectoryScore, {"nees": None, "attitude_nees": None, "biases": None}),
    (scores.TableCell, {"published": None, "bar": None, "at_least": False, "unit": "m"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "defaults"), DEFAULTS, ids=[each.__name__ for each, _ in DEFAULTS]
)
def test_what_nobody_says_is_as_its_page_has_it(kind: Any, defaults: dict[str, Any]) -> None:
    found = defaults_of(kind)
    assert {name: found[name] for name in defaults} == defaults


def test_flights_on_units_are_of_these_lengths_seeds_and_bars() -> None:
    assert (units.CENTRE_DEG, units.SECONDS, units.QUICK_SECONDS) == (0.4, 36.0, 4.0)
    assert units.SEEDS == (1, 2, 3, 4, 5)
    assert units.UNITS == {"paper": ("stereo", "default"), "euroc": ("stereo_wide", "euroc")}
    assert [(name, len(methods), bodies) for name, methods, bodies in units.FLEETS] == [
        ("f450", 2, ("drone_1",)), ("three_star", 5, STAR),
    ]  # fmt: skip


def test_films_of_pages_show_half_a_minute_at_most_in_their_own_size() -> None:
    for settings in documented.FILMS.values():
        assert (settings.rate, settings.size, settings.follows) == (12.5, (480, 270), True)
    shown = {
        name: (each.end - each.begin) / each.speed
        for name, each in documented.FILMS.items()
        if each.begin is not None and each.end is not None
    }
    assert shown == pytest.approx(
        {"three_star_spiral": 7.5, "module_assembly": 7.6, "wall_push": 6.0}
    )
