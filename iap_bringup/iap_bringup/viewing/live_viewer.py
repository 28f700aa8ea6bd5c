# SPDX-License-Identifier: BSD-3-Clause
"""A flight in the browser while it is flown: the scene, and a person's hand on time, reference, wind and faults."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from iap_bringup.viewing.control import Disturber
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.live_flight import SHOW_PERIOD
from iap_bringup.viewing.panel import add_layers, add_time
from iap_bringup.viewing.scene import (
    PATH_COLOR,
    PATHS,
    FlightScene,
    add_path,
    add_paths,
    initial_view,
)
from iap_bringup.viewing.source import LiveSource
from iap_bringup.viewing.stage import ErasableStage
from iap_bringup.viewing.viser_stage import Server, ViserStage
from iap_description.arrays import Array
from iap_description.states import REF_P, REF_Q, P
from iap_description.vehicles.aircraft import ROTORS

LOOK_PERIOD = 0.25 * SHOW_PERIOD  # between two looks whether there is a new instant [s]
GIZMO_SIZE = 0.6  # [m]
TRACE_POINTS = 15  # of a way, that are added at once
MOST_NODES = 1200  # of a way, which is ten minutes of it at least
LONGEST_GAP = 1.0  # between two points that a line joins [s]
FASTEST_WIND = 15.0  # [m/s]
KEY_SPEED, KEY_RATE = 0.8, 0.6  # of the goal while a key is held [m/s], [rad/s]
Key = Literal["W", "S", "A", "D", "R", "F", "Q", "E"]
KEYS: tuple[tuple[Key, str, tuple[float, float, float, float]], ...] = (
    # along the heading, and the yaw rate
    ("W", "ahead", (KEY_SPEED, 0.0, 0.0, 0.0)),
    ("S", "back", (-KEY_SPEED, 0.0, 0.0, 0.0)),
    ("A", "left", (0.0, KEY_SPEED, 0.0, 0.0)),
    ("D", "right", (0.0, -KEY_SPEED, 0.0, 0.0)),
    ("R", "up", (0.0, 0.0, KEY_SPEED, 0.0)),
    ("F", "down", (0.0, 0.0, -KEY_SPEED, 0.0)),
    ("Q", "turn left", (0.0, 0.0, 0.0, KEY_RATE)),
    ("E", "turn right", (0.0, 0.0, 0.0, -KEY_RATE)),
)


class LiveViewer:
    """Shows a flight in the pages of a server.

    Args:
        server: of the pages.
        flight: that is flown.
        may_control: whether pages may do more than look on.
    """

    def __init__(self, server: Server, flight: LiveSource, *, may_control: bool) -> None:
        self._server, self._flight = server, flight
        self._names = [each.name for each in flight.meta.vehicles]
        self._gizmo: Any = None
        self._stage = ViserStage(server)
        self._scene = FlightScene(flight.rig, flight.meta)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        self._scene.add(self._stage)
        references = flight.references
        add_paths(self._stage, [], references)
        camera = server.initial_camera
        camera.position, camera.look_at = initial_view(np.vstack(references), flight.rig)
        self._traces = [
            Trace(f"{self._scene.root}/{PATHS}/way_{i}") for i in range(len(references))
        ]
        self._clock = server.gui.add_markdown("")
        if may_control:
            add_time(server, flight.control)
            self._add_hand()
            if flight.disturber is not None:
                self._add_faults(flight.disturber)
        add_layers(server, self._stage, [self._scene])

    def _add_hand(self) -> None:
        """Add what flies a vehicle by hand."""
        gui = self._server.gui
        with gui.add_folder("Fly"):
            gui.add_markdown("Keys W A S D R F Q E, or drag the handle.")
            self._vehicle = gui.add_dropdown("vehicle", self._names)
            gui.add_button("Take the reference").on_click(lambda _: self._add_gizmo())
            gui.add_button("Give it back").on_click(lambda _: self._release())
            self._hindrance = gui.add_markdown("")
        for key, label, twist in KEYS:
            command = gui.add_command(f"fly {label}", hotkey=key)
            command.on_trigger(self._flies(np.array(twist)))

    def _add_faults(self, disturber: Disturber) -> None:
        """Add wind and faults."""
        gui, vehicles = self._server.gui, self._flight.meta.vehicles
        with gui.add_folder("Wind and faults", expand_by_default=False):
            wind = gui.add_slider("wind, m/s", 0.0, FASTEST_WIND, 0.5, 0.0)
            towards = gui.add_slider("towards, deg", -180.0, 180.0, 5.0, 0.0)
            most = max(each.count for each in vehicles)
            aircraft = gui.add_dropdown("aircraft", [str(i + 1) for i in range(most)])
            rotor = gui.add_dropdown("rotor", [str(i + 1) for i in range(ROTORS)])
            broken = gui.add_button("Break the rotor")
            stopped = gui.add_button("Stop the aircraft's motors")
        for slider in (wind, towards):
            slider.on_update(lambda _: disturber.blow(wind.value, towards.value))
        broken.on_click(
            lambda _: disturber.break_rotor(self._number, int(aircraft.value), int(rotor.value))
        )
        stopped.on_click(lambda _: disturber.stop_motors(self._number, int(aircraft.value)))

    @property
    def _number(self) -> int:
        return self._names.index(self._vehicle.value)

    def _flies(self, twist: Array) -> Callable[[object], None]:
        def fly(_: object) -> None:
            if self._may_lead():
                self._flight.hand.fly(self._number, twist)

        return fly

    def _may_lead(self) -> bool:
        """Whether the chosen vehicle can be led by hand; the panel says why not."""
        self._hindrance.content = self._flight.hand.hindrance(self._number)
        return not self._hindrance.content

    def _add_gizmo(self) -> None:
        """Put a handle at the reference of the chosen vehicle."""
        steps = self._flight.steps()
        if not steps or not self._may_lead():
            return
        self._remove_gizmo()
        row, number = steps[self._number].reference.row, self._number
        x, y, z, w = row[REF_Q].tolist()
        self._gizmo = self._server.scene.add_transform_controls(
            f"/{self._scene.root}/handle",
            scale=GIZMO_SIZE,
            depth_test=False,
            position=row[REF_P],
            wxyz=(w, x, y, z),
        )
        self._flight.hand.drag(number, np.concatenate([row[REF_P], row[REF_Q]]))

        @self._gizmo.on_update
        def _(_: object) -> None:
            w, x, y, z = self._gizmo.wxyz
            self._flight.hand.drag(number, np.array([*self._gizmo.position, x, y, z, w]))

    def _remove_gizmo(self) -> None:
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None

    def _release(self) -> None:
        self._remove_gizmo()
        self._flight.hand.release()

    def __enter__(self) -> "LiveViewer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._server.stop()

    def _run(self) -> None:
        """Show the newest instant again and again, while anybody looks."""
        shown = None
        while not self._stop.wait(LOOK_PERIOD):
            steps = self._flight.steps()
            if not steps or steps is shown or (shown and not self._server.get_clients()):
                continue
            shown = steps
            with self._stage.at_once():
                self._scene.update(self._stage, steps)
                self._trace(steps)
            self._clock.content = f"t = {steps[0].t:.2f} s"

    def _trace(self, steps: Steps) -> None:
        """Draw where vehicles have been, now and then."""
        for trace, step in zip(self._traces, steps, strict=True):
            trace.extend(self._stage, step.t, step.x[0, P])


class Trace:
    """The line of where a vehicle has been; it begins anew where time does.

    Args:
        name: of its nodes.
    """

    def __init__(self, name: str) -> None:
        self._name, self._count, self._t = name, 0, -np.inf
        self._points: list[Array] = []
        self._nodes: deque[str] = deque()

    def extend(self, stage: ErasableStage, t: float, position: Array) -> None:
        """Add a position (3,) at a time [s]."""
        if t < self._t:
            self._points.clear()
            while self._nodes:
                stage.remove(self._nodes.popleft())
        elif t > self._t + LONGEST_GAP:
            self._points.clear()
        self._t = t
        self._points.append(position.copy())
        if len(self._points) > TRACE_POINTS:
            self._draw(stage)

    def _draw(self, stage: ErasableStage) -> None:
        """Draw the points as a node, and take away the oldest one of many."""
        self._count += 1
        self._nodes.append(f"{self._name}_{self._count}")
        add_path(stage, self._nodes[-1], np.array(self._points), PATH_COLOR)
        del self._points[:-1]
        if len(self._nodes) > MOST_NODES:
            stage.remove(self._nodes.popleft())
