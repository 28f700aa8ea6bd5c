# SPDX-License-Identifier: BSD-3-Clause
"""A flight in the browser while it is flown: the scene, and a person's hand on time, reference, wind and faults."""

import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from iap_bringup.viewing.control import Disturber, ReferenceHand
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.legend import legend_of
from iap_bringup.viewing.live_flight import SHOW_PERIOD
from iap_bringup.viewing.live_trace import Trace
from iap_bringup.viewing.panel import EventLog, add_layers, add_legend, add_time
from iap_bringup.viewing.scene import (
    PATHS,
    FlightScene,
    add_paths,
    initial_view,
)
from iap_bringup.viewing.source import LiveSource
from iap_bringup.viewing.viser_stage import Server, ViserStage
from iap_description.arrays import Array
from iap_description.states import REF_P, REF_Q, P
from iap_description.vehicles.aircraft import ROTORS

LOOK_PERIOD = 0.25 * SHOW_PERIOD  # between two looks whether there is a new instant [s]
IDLE_PERIOD = 0.1  # between two looks while nobody watches [s]
GIZMO_SIZE = 0.6  # [m]
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
KEY_TEXT = (
    "Take the reference and drag its handle, or fly it by keys: **W S** ahead and back, **A D** left and right,"
    " **R F** up and down, **Q E** turn."
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
        self._gizmo: Gizmo | None = None
        self._is_gizmo_due = False  # a handle that was asked for before the first instant
        self._stage = ViserStage(server)
        self._scene = FlightScene(flight.rig, flight.meta, couplings=flight.couplings)
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
        self._clock, self._news = server.gui.add_markdown(""), server.gui.add_markdown("")
        self._may_control = may_control
        if may_control:
            add_time(server, flight.control)
            self._add_hand()
            if flight.disturber is not None:
                self._add_faults(flight.disturber)
        self._events = EventLog(server)
        add_layers(server, self._stage, [self._scene])
        add_legend(server, legend_of(flight.meta, flight.couplings))

    def _add_hand(self) -> None:
        """Add what flies a vehicle by hand."""
        gui = self._server.gui
        with gui.add_folder("Fly"):
            gui.add_markdown(KEY_TEXT)
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
                if self._gizmo is not None:
                    self._gizmo.is_dragged = False

        return fly

    def _may_lead(self) -> bool:
        """True if the chosen vehicle can be led by hand; the panel says why not."""
        self._hindrance.content = self._flight.hand.hindrance(self._number)
        return not self._hindrance.content

    def _add_gizmo(self) -> None:
        """Put a handle at the reference of the chosen vehicle."""
        steps = self._flight.steps()
        self._is_gizmo_due = not steps
        if not steps or not self._may_lead():
            return
        self._remove_gizmo()
        self._gizmo = Gizmo(self._server, f"/{self._scene.root}/handle", self._number, steps)
        self._gizmo.on_drag(self._flight.hand)
        row = steps[self._number].reference.row
        self._flight.hand.drag(self._number, np.concatenate([row[REF_P], row[REF_Q]]))

    def _remove_gizmo(self) -> None:
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None

    def _release(self) -> None:
        self._is_gizmo_due = False
        self._remove_gizmo()
        self._flight.hand.release()

    def __enter__(self) -> "LiveViewer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._server.stop()

    def linger(self, news: str, wants_reset: Callable[[], bool]) -> None:
        """Let pages stay with the last instant of a flight that is over, until they are closed or it is reset.

        Args:
            news: how it ended.
            wants_reset: whether it shall begin again.
        """
        again = "Reset flies it again. " if self._may_control else ""
        self._news.content = f"**{news}** {again}Closing the page ends the command."
        self._server.linger(wants_reset)
        self._news.content = ""

    def _run(self) -> None:
        """Show the newest instant again and again, while anybody looks."""
        shown, period = None, LOOK_PERIOD
        while not self._stop.wait(period):
            steps, is_watched = self._flight.steps(), bool(self._server.get_clients())
            period = LOOK_PERIOD if is_watched else IDLE_PERIOD
            if not steps or steps is shown or not is_watched:
                continue
            shown = steps
            if self._is_gizmo_due:
                self._add_gizmo()
            notes = self._flight.notes()
            self._events.update(notes.events)
            with self._stage.at_once():
                self._scene.update(self._stage, steps, notes)
                self._trace(steps)
                if self._gizmo is not None:
                    self._gizmo.follow(steps)
            self._clock.content = f"t = {steps[0].t:.2f} s"

    def _trace(self, steps: Steps) -> None:
        """Draw where vehicles have been, now and then."""
        for trace, step in zip(self._traces, steps, strict=True):
            trace.extend(self._stage, step.t, step.x[0, P])


class Gizmo:
    """A handle at a vehicle's reference, which follows that unless it was dragged last.

    Args:
        server: of the pages.
        name: of its node.
        vehicle: its number.
        steps: of the present instant.

    Attributes:
        is_dragged: whether a person has dragged it, and no key has flown the reference since.
    """

    def __init__(self, server: Server, name: str, vehicle: int, steps: Steps) -> None:
        self._vehicle, self._t, self.is_dragged = vehicle, -np.inf, False
        self._handle: Any = server.scene.add_transform_controls(
            name, scale=GIZMO_SIZE, depth_test=False
        )
        self.follow(steps)

    def on_drag(self, hand: ReferenceHand) -> None:
        """Let a hand drag the vehicle's reference along."""

        @self._handle.on_update
        def _(_: object) -> None:
            self.is_dragged = True
            w, x, y, z = self._handle.wxyz
            hand.drag(self._vehicle, np.array([*self._handle.position, x, y, z, w]))

    def follow(self, steps: Steps) -> None:
        """Stand at the reference of an instant; a flight that has begun anew has not been dragged."""
        step = steps[self._vehicle]
        self.is_dragged &= step.t >= self._t
        self._t = step.t
        if not self.is_dragged:
            x, y, z, w = step.reference.row[REF_Q].tolist()
            self._handle.position, self._handle.wxyz = step.reference.row[REF_P], (w, x, y, z)

    def remove(self) -> None:
        """Take it away."""
        self._handle.remove()
