# SPDX-License-Identifier: BSD-3-Clause
"""Rates, sizes and limits of pages in a browser: who changes one has to change it here too."""

from typing import Any

import pytest

from iap_bringup.films import film, film_camera, film_picture, film_stage
from iap_bringup.pictures import contact_camera, picture, picture_scene, render
from iap_bringup.viewing import (
    control,
    events,
    layers,
    live_flight,
    live_scene_notes,
    live_trace,
    live_viewer,
    localization_viewer,
    note_layers,
    page,
    panel,
    point_readings,
    recorded_scene_notes,
    run_viewer,
    scene,
    scene_notes,
    source,
    table_viewer,
    viser_stage,
)

NUMBERS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (control, {"KEY_TIME": 0.3, "SPEEDS": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0), "FASTEST": 0.0}),
    (events, {"MOST_LINES": 12}),
    (layers, {"LEAST_LENGTH": 0.005, "CONTACT_WIDTH": 2.0, "REFERENCE_AXES": 0.35, "GRID_REACH": 10.0,
              "GRID_STEP": 1.0}),
    (live_flight, {"PAUSE_PERIOD": 0.05}),
    (live_scene_notes, {"SOON": 1.0}),
    (live_trace, {"TRACE_POINTS": 15, "MOST_NODES": 1200, "LONGEST_GAP": 1.0}),
    (live_viewer, {"IDLE_PERIOD": 0.1, "GIZMO_SIZE": 0.6, "FASTEST_WIND": 15.0, "KEY_SPEED": 0.8, "KEY_RATE": 0.6}),
    (localization_viewer, {"SHOW_PERIOD": 0.1, "PAUSE_PERIOD": 0.05, "PATH_POINTS": 1500, "TRUTH_AXES": 0.3,
                           "ESTIMATE_AXES": 0.2, "LEAST_SIZE": 1.0}),
    (note_layers, {"ESTIMATE_AXES": 0.2, "PORT_AXES": 0.12, "POINT_SIZE": 0.04}),
    (page, {"RATE": 20.0, "MOST_PICTURES": 1200, "THUMBNAIL_PERIOD": 0.5, "MOST_THUMBNAILS": 600,
            "THUMBNAIL_WIDTH": 160, "QUALITY": 60}),
    (panel, {"FOLLOW_DISTANCE": 2.8, "CURVE_SPAN": 10.0, "CURVE_POINTS": 300, "CURVE_PERIOD": 0.3,
             "IMAGE_PERIOD": 0.25, "ECHOES": 150, "ECHO_TIME": 1.0, "LET_GO": 0.5}),
    (point_readings, {"CLOUD_PERIOD": 0.2}),
    (recorded_scene_notes, {"CLOUD_PERIOD": 0.25, "NANO": 1e-9}),
    (run_viewer, {"PERIOD": 1.0 / 30.0}),
    (scene, {"LOWEST_EYE": 0.3, "VIEW_DISTANCE": 0.7, "MARGIN": 0.5}),
    (scene_notes, {"MOST_POINTS": 1000}),
    (source, {"MAX_POINTS": 600, "REFERENCE_PERIOD": 0.15, "FEWEST_POINTS": 200, "MOST_POINTS": 3000}),
    (table_viewer, {"MOST_LISTED": 20, "VARIED_COLUMNS": 3, "POLL": 0.2}),
    (viser_stage, {"TEXTURE_SIZE": 256, "FIRST_PORT": 8080, "LAST_PORT": 65535, "TRIED_PORTS": 100,
                   "SAME_SIZE": 0.01}),
    (film, {"LONGEST_STEP": 0.05, "TEXT_SHARE": 0.026}),
    (film_camera, {"MARGIN": 0.5, "CLOSE_MARGIN": 0.45, "SMOOTHING": 0.8, "LOWEST": 0.25}),
    (film_picture, {"FOCAL": 0.9, "DEPTH_SHRINK": 3, "DEPTH_SLACK": 0.04, "MIN_ARROW_PIXELS": 4.0}),
    (film_stage, {"TILE": 1.0, "TILE_GREYS": (214, 198), "HAZE": 0.035}),
    (contact_camera, {"ASIDE_DEG": (70.0, 80.0, 90.0, 100.0, 112.0), "ELEVATION_DEG": (14.0, 22.0, 30.0, 40.0),
                      "TIP_SURROUNDINGS": 0.55, "STEEP": 0.25, "AROUND_DEG": (-35.0, 35.0, -145.0, 145.0),
                      "HEIGHTS_DEG": (18.0, 40.0)}),
    (picture, {"SAMPLES": 2, "FOV_DEG": 30.0, "SPAN": (0.05, 200.0), "REACH": 0.55, "SHADOWED": 6.0,
               "SUN_DISTANCE": 60.0, "SHADOW_PIXELS": 3000, "SHADOW_SHARE": 1.2, "HAZE": 22.0}),
    (picture_scene, {"TILES": 80, "TILE": 0.5, "AMBIENT": 0.55}),
    (render, {"SIZE": (1280, 720), "PATH_STEP": 20}),
)  # fmt: skip


@pytest.mark.parametrize(("module", "numbers"), NUMBERS, ids=[m.__name__ for m, _ in NUMBERS])
def test_a_page_or_picture_is_as_quick_and_as_large_as_it_was_made(
    module: Any, numbers: dict[str, Any]
) -> None:
    found = vars(module)
    assert {name: found[name] for name in numbers} == numbers
