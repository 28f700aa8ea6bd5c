# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of a recording in the browser while they are made, beside the truth where it is known."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from iap_bringup.viewing.events import Event
from iap_bringup.viewing.live_trace import Trace
from iap_bringup.viewing.note_layers import put_ellipsoid
from iap_bringup.viewing.panel import COLORS, EventLog, add_time
from iap_bringup.viewing.scene import REFERENCE_COLOR, VIEW_DISTANCE, VIEW_FROM, add_path
from iap_bringup.viewing.stage import Rgb
from iap_bringup.viewing.viser_stage import Server, ViserStage
from iap_description.arrays import Array
from iap_description.states import P
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.vision_log import VisionLog
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.localizer import Localizer, make_localizer, named_estimates
from iap_estimation.virpo.messages import Estimate
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import InitialState

SHOW_PERIOD, PAUSE_PERIOD = (
    0.1,
    0.05,
)  # wall time between two updates, and looks whether a pause is over [s]
PATH_POINTS = 1500  # of a true path
TRUTH_AXES, ESTIMATE_AXES = 0.3, 0.2  # [m]
ELLIPSOID_OPACITY = 0.35
LEAST_SIZE = 1.0  # of what the camera sees [m]


class LocalizationViewer:
    """Shows the estimates of methods on their way through a recording, and the control of that way.

    Args:
        server: of the pages.
        dataset: that is localised in.
        methods: their names.
        may_control: whether pages may do more than look on.

    Attributes:
        is_paused: whether the way stands still.
        vision: when aircraft see nothing any longer, and something again.
        check: called while it does; raises what ends it.
    """

    speed: float = 1.0
    speeds: Sequence[float] = ()  # estimators are as fast as they are

    def __init__(
        self, server: Server, dataset: SensorDataset, methods: Sequence[str], *, may_control: bool
    ) -> None:
        self._server, self._dataset = server, dataset
        self.is_paused, self._updates_left, self._due = False, 0, 0.0
        self.check: Callable[[], None] = lambda: None
        self._names = [each.name for each in dataset.aircraft]
        self._localizers: dict[str, Localizer] = {}
        self.vision = VisionLog(len(dataset.aircraft))
        self._traces: dict[str, Trace] = {}
        self._t = 0.0
        self._stage = ViserStage(server)
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        self._clock = server.gui.add_markdown("")
        if may_control:
            add_time(server, self)
        colors = {name: _rgb(COLORS[i % len(COLORS)]) for i, name in enumerate(methods)}
        legend = "".join(
            f'<span style="color:rgb{color}">&#9679; {name}</span><br/>'
            for name, color in colors.items()
        )
        server.gui.add_html(f"{legend}truth: grey path, long axes")
        self._events = EventLog(server)
        self._add_truth()
        for method, color in colors.items():
            self._stage.add_frame(method)
            for body in dataset.bodies:
                self._stage.add_frame(f"{method}/{body}", ESTIMATE_AXES)
                self._stage.add_frame(f"{method}/{body}_covariance")
                ball = f"{method}/{body}_covariance/ball"
                self._stage.add_ball(ball, 1.0, color, ELLIPSOID_OPACITY)
                self._stage.show(ball, visible=False)
                self._traces[f"{method}/{body}"] = Trace(f"{method}/{body}_way", color)

    def _add_truth(self) -> None:
        """Draw true paths, and look at them."""
        self._stage.add_frame("truth")
        paths = []
        for body, truth in self._dataset.bodies.items():
            if truth is None:
                continue
            known = truth.poses[np.isfinite(truth.poses[:, P]).all(axis=1)]
            points = known[:: max(1, len(known) // PATH_POINTS), P]
            add_path(self._stage, f"truth/{body}_path", points, REFERENCE_COLOR)
            self._stage.add_frame(f"truth/{body}", TRUTH_AXES if truth.has_attitude else 0.0)
            paths.append(points)
        points = np.vstack(paths) if paths else np.zeros((1, 3))
        low, high = points.min(axis=0), points.max(axis=0)
        size = max(LEAST_SIZE, float(np.linalg.norm(high - low)))
        x, y, z = (0.5 * (low + high)).tolist()
        from_x, from_y, from_z = (VIEW_DISTANCE * size * VIEW_FROM * 1.5).tolist()
        camera = self._server.initial_camera
        camera.position, camera.look_at = (x + from_x, y + from_y, z + from_z), (x, y, z)

    # The way through the recording.

    def make(
        self,
        name: str,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None,
    ) -> Localizer:
        """The localizer of a method, whose estimates are shown."""
        self._localizers[name] = make_localizer(name, fleet, spec, first, deviations)
        return self._localizers[name]

    def progress(self, t: float) -> None:
        """Show the estimates so far if it is time to, and wait while the way is paused; t since its begin [s]."""
        self._t = t
        while self.is_paused and not self._updates_left:
            time.sleep(PAUSE_PERIOD)
            self.check()
        if self._updates_left or time.perf_counter() >= self._due:
            self._updates_left = max(0, self._updates_left - 1)
            self._due = time.perf_counter() + SHOW_PERIOD
            self._show(t)

    def linger(self) -> None:
        """Let pages stay with the last estimates until they are closed."""
        self._show(self._t)
        self._clock.content += " &ensp; **done** Closing the page ends the command."
        self._server.linger(lambda: False)

    def step(self) -> None:
        """Go on by one update, and pause."""
        self.is_paused, self._updates_left = True, 1

    def _show(self, t: float) -> None:
        """Put what is estimated, and the truth at that time."""
        newest = -np.inf
        with self._stage.at_once():
            for method, localizer in self._localizers.items():
                for body, estimate in named_estimates(localizer, self._names).items():
                    self._put(f"{method}/{body}", estimate)
                    newest = max(newest, estimate.t)
            for body, truth in self._dataset.bodies.items():
                if truth is not None and np.isfinite(newest):
                    pose = _at(truth, newest)
                    if np.isfinite(pose).all():
                        self._stage.place(f"truth/{body}", pose)
        self._clock.content = f"t = {t:.2f} s"
        self._events.update(self._events_so_far())

    def _events_so_far(self) -> list[Event]:
        """Losses of vision, and new begins of methods, at times of the data [s]."""
        events = [Event(t, what) for t, what in self.vision.events]
        begun = [
            Event(fault.t, f"{method}: began anew, {fault.reason}")
            for method, localizer in self._localizers.items()
            for fault in localizer.faults
        ]
        return sorted([*events, *begun], key=lambda each: each.t)

    def _put(self, node: str, estimate: Estimate) -> None:
        pose = np.concatenate([estimate.p_WB_W, estimate.q_WB])
        if not np.isfinite(pose).all():
            return
        self._stage.place(node, pose)
        self._traces[node].extend(self._stage, estimate.t, pose[P])
        covariance = estimate.covariance[:3, :3]
        is_known = bool(np.isfinite(covariance).all())
        self._stage.show(f"{node}_covariance/ball", visible=is_known)
        if is_known:
            put_ellipsoid(self._stage, f"{node}_covariance", pose[P], covariance)


def _at(truth: Truth, t: float) -> Array:
    """(7,) the last true pose up to a time [s], level where no attitude is known."""
    k = max(0, int(np.searchsorted(truth.t, t, side="right")) - 1)
    pose: Array = truth.poses[k].copy()
    if not truth.has_attitude:
        pose[3:] = 0.0, 0.0, 0.0, 1.0
    return pose


def _rgb(color: str) -> Rgb:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
