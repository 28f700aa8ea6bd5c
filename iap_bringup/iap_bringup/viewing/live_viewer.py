# SPDX-License-Identifier: BSD-3-Clause
"""A flight in the browser while it is flown: the scene, and a person's hand on time, reference, wind and faults."""

import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.live_flight import SHOW_PERIOD, LiveFlight
from iap_bringup.viewing.panel import add_layers, add_time
from iap_bringup.viewing.scene import (
    PATH_COLOR,
    PATHS,
    FlightScene,
    add_path,
    add_paths,
    initial_view,
)
from iap_bringup.viewing.viser_stage import Server, ViserStage
from iap_description.arrays import Array
from iap_description.states import REF_P, REF_Q, P
from iap_description.vehicles.aircraft import ROTORS

GIZMO_SIZE = 0.6  # [m]
TRACE_POINTS = 15  # of a way, that are added at once
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

    def __init__(self, server: Server, flight: LiveFlight, *, may_control: bool) -> None:
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
        self._traces: list[list[Array]] = [[] for _ in references]
        self._clock = server.gui.add_markdown("")
        if may_control:
            add_time(server, flight)
            self._add_hand()
            self._add_faults()
        add_layers(server, self._stage, [self._scene])

    def _add_hand(self) -> None:
        """Add what flies a vehicle by hand."""
        gui = self._server.gui
        with gui.add_folder("Fly"):
            gui.add_markdown("Keys W A S D R F Q E, or drag the handle.")
            self._vehicle = gui.add_dropdown("vehicle", self._names)
            gui.add_button("Take the reference").on_click(lambda _: self._add_gizmo())
            gui.add_button("Give it back").on_click(lambda _: self._release())
        for key, label, twist in KEYS:
            command = gui.add_command(f"fly {label}", hotkey=key)
            command.on_trigger(self._flies(np.array(twist)))

    def _add_faults(self) -> None:
        """Add wind and faults."""
        gui, flight = self._server.gui, self._flight
        with gui.add_folder("Wind and faults", expand_by_default=False):
            wind = gui.add_slider("wind, m/s", 0.0, FASTEST_WIND, 0.5, 0.0)
            towards = gui.add_slider("towards, deg", -180.0, 180.0, 5.0, 0.0)
            most = max(each.count for each in flight.meta.vehicles)
            aircraft = gui.add_dropdown("aircraft", [str(i + 1) for i in range(most)])
            rotor = gui.add_dropdown("rotor", [str(i + 1) for i in range(ROTORS)])
            broken = gui.add_button("Break the rotor")
            stopped = gui.add_button("Stop the aircraft's motors")
        for slider in (wind, towards):
            slider.on_update(lambda _: flight.blow(wind.value, towards.value))
        broken.on_click(
            lambda _: flight.break_rotor(self._number, int(aircraft.value), int(rotor.value))
        )
        stopped.on_click(lambda _: flight.stop_motors(self._number, int(aircraft.value)))

    @property
    def _number(self) -> int:
        return self._names.index(self._vehicle.value)

    def _flies(self, twist: Array) -> Callable[[object], None]:
        return lambda _: self._flight.fly(self._number, twist)

    def _add_gizmo(self) -> None:
        """Put a handle at the reference of the chosen vehicle."""
        steps = self._flight.steps()
        if not steps:
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
        self._flight.drag(number, np.concatenate([row[REF_P], row[REF_Q]]))

        @self._gizmo.on_update
        def _(_: object) -> None:
            w, x, y, z = self._gizmo.wxyz
            self._flight.drag(number, np.array([*self._gizmo.position, x, y, z, w]))

    def _remove_gizmo(self) -> None:
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None

    def _release(self) -> None:
        self._remove_gizmo()
        self._flight.release()

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
        while not self._stop.wait(SHOW_PERIOD):
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
        for i, (points, step) in enumerate(zip(self._traces, steps, strict=True)):
            points.append(step.x[0, P].copy())
            if len(points) % TRACE_POINTS == 0:
                node = f"{self._scene.root}/{PATHS}/vehicle_{i}_{len(points)}"
                add_path(self._stage, node, np.array(points[-TRACE_POINTS - 1 :]), PATH_COLOR)
