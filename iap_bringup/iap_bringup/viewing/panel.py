# SPDX-License-Identifier: BSD-3-Clause
"""The panel beside a scene: time, layers, curves, events and images of a recorded flight."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from iap_bringup.viewing import events as event_lines
from iap_bringup.viewing.control import Control, Playback, TimeControl
from iap_bringup.viewing.events import Event
from iap_bringup.viewing.legend import Meaning, as_html
from iap_bringup.viewing.record_notes import Curves, RecordedImages, as_picture
from iap_bringup.viewing.scene import PATHS, FlightScene
from iap_bringup.viewing.stage import Stage
from iap_bringup.viewing.viser_stage import uplot, viser

COLORS = ("#1f5fbf", "#c8501e", "#2e8b57", "#7a4fa3", "#b8860b", "#444444", "#d6457e", "#008b8b")
FOLLOW_DISTANCE = 2.8  # of a camera that follows, from the vehicle [m]
CURVE_SPAN = 10.0  # time that is drawn before the present one [s]
CURVE_POINTS = 300
CURVE_PERIOD, IMAGE_PERIOD = 0.3, 0.25  # wall time between two updates [s]
CURVE_ASPECT = 2.2
AXIS_WIDTH, AXIS_HEIGHT, TICK_SPACE = 54, 30, 22  # of numbers beside a curve [pixels]
ECHOES = 150
ECHO_TIME = 1.0  # after the last value that was sent, in which pages may send one back [s]
LET_GO = 0.5  # time after which a slider that a person has moved moves by itself again [s]


def add_time(server: viser.ViserServer, control: TimeControl | Control) -> None:
    """Add buttons for time: pause, step, reset if the control has it, and speeds where there are any."""
    gui = server.gui
    with gui.add_folder("Time"):
        pause = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE)
        step = gui.add_button("Step", icon=viser.Icon.PLAYER_SKIP_FORWARD)
        if isinstance(control, Control):
            reset = gui.add_button("Reset", icon=viser.Icon.PLAYER_SKIP_BACK)
            reset.on_click(lambda _: begin_again(control))
        names = {_name_of(each): each for each in control.speeds}
        present = _name_of(control.speed)
        speed = gui.add_dropdown("speed", tuple(names), initial_value=present) if names else None

    def show_paused() -> None:
        pause.label = "Play" if control.is_paused else "Pause"

    def begin_again(resettable: Control) -> None:
        resettable.reset()
        show_paused()

    @pause.on_click
    def _(_: object) -> None:
        control.is_paused = not control.is_paused
        show_paused()

    @step.on_click
    def _(_: object) -> None:
        control.step()
        show_paused()

    if speed is not None:

        @speed.on_update
        def _(_: object) -> None:
            control.speed = names[speed.value]


def _name_of(speed: float) -> str:
    return f"{speed:g}x" if speed > 0.0 else "as fast as it can"


def add_legend(server: viser.ViserServer, meanings: Iterable[Meaning]) -> None:
    """Add what colours mean."""
    with server.gui.add_folder("Colours", expand_by_default=False):
        server.gui.add_html(as_html(list(meanings)))


def add_layers(server: viser.ViserServer, stage: Stage, scenes: Sequence[FlightScene]) -> None:
    """Add a box for each layer of some scenes, which shows or hides it, and one that follows the first vehicle."""

    def follow(event: viser.GuiEvent[Any]) -> None:
        for scene in scenes:
            scene.follows = event.target.value
        home = scenes[0].home
        if event.target.value and event.client is not None and home is not None:
            camera = event.client.camera
            away = camera.position - camera.look_at
            camera.position = home + FOLLOW_DISTANCE * away / max(
                float(np.linalg.norm(away)), 1e-3
            )
            camera.look_at = home

    def shows(name: str) -> Callable[[viser.GuiEvent[Any]], None]:
        def show(event: viser.GuiEvent[Any]) -> None:
            for scene in scenes:
                for node in scene.nodes(name):
                    stage.show(node, visible=event.target.value)

        return show

    followed = server.gui.add_checkbox("camera follows", initial_value=False)
    followed.on_update(follow)
    with server.gui.add_folder("Shown", expand_by_default=False):
        for name in (*scenes[0].layers, PATHS):
            server.gui.add_checkbox(name, initial_value=True).on_update(shows(name))


class TimeSlider:
    """A slider over the time of a recorded flight, with marks at its events."""

    def __init__(
        self,
        server: viser.ViserServer,
        playback: Playback,
        span: tuple[float, float],
        events: Sequence[Event] = (),
    ) -> None:
        self._playback = playback
        first, last = span
        self._slider: Any = (
            server.gui.add_slider(  # Any: viser's own types call its value read-only
                "t, s",
                min=round(first, 3),
                max=round(max(last, first + 1e-3), 3),
                step=0.005,
                initial_value=first,
                marks=tuple(sorted({round(each.t, 3) for each in events})) or None,
            )
        )
        self._touched = -np.inf  # wall time at which a person moved it last [s]
        self._sent: deque[float] = deque(maxlen=ECHOES)  # values that pages may send back
        self._sent_at = -np.inf  # wall time of the last of them [s]

        @self._slider.on_update
        def _(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None and not self._is_echo():
                self._touched = time.monotonic()
                playback.is_paused = True
                playback.seek(float(self._slider.value))

    def update(self) -> None:
        """Show the present time."""
        t = round(self._playback.t, 3)
        if t != self._slider.value and time.monotonic() > self._touched + LET_GO:
            self._sent.append(t)
            self._sent_at = time.monotonic()
            self._slider.value = t

    def _is_echo(self) -> bool:
        """True if a page has sent back what it was sent, rather than what a person asks for."""
        is_recent = time.monotonic() < self._sent_at + ECHO_TIME
        return is_recent and self._slider.value in self._sent


class CurvePanel:
    """Curves of a recorded flight up to the present time."""

    def __init__(self, server: viser.ViserServer, curves: Sequence[Curves]) -> None:
        self._curves, self._plots = list(curves), []
        with server.gui.add_folder("Curves", expand_by_default=False):
            for each in self._curves:
                series = (
                    uplot.Series(label="t, s"),
                    *(
                        uplot.Series(label=label, stroke=COLORS[i % len(COLORS)], width=2)
                        for i, label in enumerate(each.labels)
                    ),
                )
                self._plots.append(
                    server.gui.add_uplot(
                        _window(each, each.t[0]),
                        series,
                        title=each.title,
                        aspect=CURVE_ASPECT,
                        scales={"x": uplot.Scale(time=False)},
                        axes=(
                            uplot.Axis(size=AXIS_HEIGHT),
                            uplot.Axis(size=AXIS_WIDTH, space=TICK_SPACE),
                        ),
                    )
                )

    def update(self, t: float) -> None:
        """Show the time before t [s]."""
        for each, plot in zip(self._curves, self._plots, strict=True):
            plot.data = _window(each, t)


def _window(curves: Curves, t: float) -> tuple[Any, ...]:
    """The last rows up to a time [s], some of them where there are many."""
    first, last = np.searchsorted(curves.t, [t - CURVE_SPAN, t], side="right")
    last = max(int(last), min(2, len(curves.t)))
    stride = max(1, (last - int(first)) // CURVE_POINTS)
    rows = slice(int(first), last, stride)
    values = curves.values[rows]
    return (curves.t[rows].copy(), *(values[:, i].copy() for i in range(values.shape[1])))


def add_events(server: viser.ViserServer, events: Sequence[Event], playback: Playback) -> None:
    """Add a button for each event, which goes to its time."""

    def goes_to(t: float) -> Callable[[object], None]:
        return lambda _: playback.seek(t)

    with server.gui.add_folder("Events"):
        for each in events:
            server.gui.add_button(f"{each.t:.2f} s  {each.text}").on_click(goes_to(each.t))


class EventLog:
    """A list of the events of a flight so far."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._events: Sequence[Event] = ()
        with server.gui.add_folder("Events"):
            self._lines = server.gui.add_html(event_lines.as_html(()))

    def update(self, so_far: Sequence[Event]) -> None:
        """Show events so far, where these are others."""
        if so_far != self._events:
            self._events = so_far
            self._lines.content = event_lines.as_html(so_far)


class ImagePanel:
    """The image of a chosen camera at the present time."""

    def __init__(self, server: viser.ViserServer, images: RecordedImages) -> None:
        self._images = images
        with server.gui.add_folder("Cameras", expand_by_default=False):
            names = list(images.cameras)
            self._choice = server.gui.add_dropdown(
                "camera", ["none", *names], initial_value="none"
            )
            self._image = server.gui.add_image(np.full((2, 2, 3), 255, np.uint8), label="")

    def update(self, t: float) -> None:
        """Show the last image up to t [s] of the camera that is chosen."""
        if self._choice.value == "none":
            return
        reading = self._images.at(self._choice.value, t)
        if reading is not None:
            self._image.image = as_picture(reading)
