# SPDX-License-Identifier: BSD-3-Clause
"""A recorded run in the browser."""

import threading
import time
from collections.abc import Sequence

import numpy as np

from iap_bringup.viewing.control import Playback
from iap_bringup.viewing.legend import legend_of
from iap_bringup.viewing.panel import (
    CURVE_PERIOD,
    IMAGE_PERIOD,
    CurvePanel,
    ImagePanel,
    TimeSlider,
    add_events,
    add_layers,
    add_legend,
    add_time,
)
from iap_bringup.viewing.record_notes import RecordedImages, curves_of, events_of
from iap_bringup.viewing.scene import FlightScene, add_paths, initial_view
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.viser_stage import Server, ViserStage
from iap_description.sensors.sensor_info import CameraSensorInfo

PERIOD = 1.0 / 30.0  # wall time between two updates [s]
GHOST_OPACITY = 0.35  # of a run that stands over another one


class RunViewer:
    """Runs in one scene with one time, played back in a server's pages.

    Args:
        server: of the pages.
        sources: one run, or several.
        beside: (3,) offset of each of them from the one before [m].
    """

    def __init__(
        self,
        server: Server,
        sources: Sequence[RunSource],
        beside: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> None:
        self._sources = list(sources)
        first = min(each.span[0] for each in sources), max(each.span[1] for each in sources)
        self.playback = Playback(first, 1.0 / sources[0].meta.control_hz)
        self._stage = ViserStage(server)
        self._scenes = [
            FlightScene(each.rig, each.meta, f"run_{i}" if i else "world", each.couplings)
            for i, each in enumerate(sources)
        ]
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        for i, (scene, source) in enumerate(zip(self._scenes, sources, strict=True)):
            scene.offset = i * np.array(beside)
            self._stage.opacity = GHOST_OPACITY if i and not any(beside) else 1.0
            scene.add(self._stage)
            add_paths(self._stage, *source.paths, root=scene.root)
        server.initial_camera.position, server.initial_camera.look_at = initial_view(
            np.vstack([line for source in sources for line in source.paths[0]]), sources[0].rig
        )
        run, meta = sources[0].run, sources[0].meta
        events = events_of(run)
        self._slider = TimeSlider(server, self.playback, first, events)
        add_time(server, self.playback)
        add_layers(server, self._stage, self._scenes)
        add_legend(server, legend_of(meta, sources[0].couplings))
        add_events(server, events, self.playback)
        self._curves = CurvePanel(server, list(curves_of(run)))
        cameras = [s for s in run.data.meta.sensors if isinstance(s, CameraSensorInfo)]
        self._images = ImagePanel(server, RecordedImages(run.folder, cameras)) if cameras else None

    def update(self) -> None:
        """Show the present time."""
        with self._stage.at_once():
            for scene, source in zip(self._scenes, self._sources, strict=True):
                source.show(scene, self._stage, self.playback.t)
        self._slider.update()

    def run(self, stop: threading.Event) -> None:
        """Play until an event is set."""
        last = curves = images = time.perf_counter()
        shown: float | None = None
        while not stop.wait(PERIOD):
            now = time.perf_counter()
            self.playback.pass_time(now - last)
            last = now
            if self.playback.t != shown:
                self.update()
            if now - curves > CURVE_PERIOD:
                self._curves.update(self.playback.t)
                curves = now
            if self._images is not None and now - images > IMAGE_PERIOD:
                self._images.update(self.playback.t)
                images = now
            shown = self.playback.t
