# SPDX-License-Identifier: BSD-3-Clause
"""Runs a plant: states and the clock out, commands in, for all of its vehicles.

Three paces: `lockstep` waits for every command for as long as it takes, `realtime` keeps the wall's
time, `fast` goes on as soon as all commands are there, and otherwise after a short wait. In all of
them time begins with the first command to every vehicle.

The service `step` flies control periods of a paused simulation, and answers once they are flown.
The node has the services of simulation_interfaces where that package is installed.
"""

import sys
import time
from collections.abc import Mapping
from typing import Any

from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger

from iap_description.errors import BadInput
from iap_io.ros.conversions import stamp_message
from iap_io.ros.node import LATEST, STEADY, SuiteNode
from iap_io.ros.process import program
from iap_io.ros.served_topic import ServedTopic
from iap_io.ros.static_frames import publish_static_frames
from iap_io.sensor_messages.static_transforms import hinges_of, mounts_of
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.module_views import ModuleJointsMessage
from iap_io.wire.stamps import SECOND, stamp_of_time
from iap_physics.build import engine_of
from iap_physics.latching.latches import Latches
from iap_physics.nodes.connection_topics import JointTopic, LatchTopic
from iap_physics.nodes.displays import WorldTopics
from iap_physics.nodes.metronome import Metronome
from iap_physics.nodes.physics_status import (
    DISCOVERED_WITHIN,
    PhysicsStatus,
    refuse_beside_another,
)
from iap_physics.nodes.standard_services.entity_services import EntityServices
from iap_physics.nodes.standard_services.results import srv
from iap_physics.nodes.standard_services.time_services import TimeServices
from iap_physics.nodes.steps import StepRequests, StepService
from iap_physics.nodes.vehicle_topics import VehicleTopics
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.session.session import Session

PLANT = "plant"
PACES = ("realtime", "lockstep", "fast")
FIRST_RESEND = 0.005  # in lockstep a state that still stands is published again [s of wall time]
LAST_RESEND = 0.1  # longest time between two copies of a state [s of wall time]
FAST_TIMEOUT = 0.02  # of commands at pace fast [s of wall time]


class PhysicsNode(SuiteNode):
    """The plant between topics."""

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__("physics_node", namespace=namespace, parameters=parameters)
        created = time.monotonic()
        spec = self._declared_plant()
        self._pace = self.choice("pace", PACES, f"How time goes on: {', '.join(PACES)}.")
        what = "A vehicle without commands for longer levels out and holds [s of simulation time]."
        timeout = self.parameter("command_timeout", 0.1, what, limits=(0.01, 60.0))
        timeout = None if self._pace == "lockstep" else timeout
        self._session = Session(spec, engine_of(spec), timeout=timeout)
        what = "Stand at t = 0 until the service pause is called with data: false."
        self._paused = self.parameter("start_paused", False, what)
        is_realtime = (
            self._pace == "realtime"
        )  # others begin at once: their processes start in numbers
        refuse_beside_another(self, created + DISCOVERED_WITHIN if is_realtime else created)
        self._clock_message = Clock()
        clock = self.create_publisher(Clock, self.absolute("clock"), LATEST)
        self._clock_topic = ServedTopic(clock)
        self._vehicles = self._make_vehicles(spec)
        names = [vehicle.command_topic for vehicle in self._vehicles]
        self._status = PhysicsStatus(self, self._session, self._pace, names)
        self._status.paused = self._paused
        self._serve()
        self._begin_pace(spec)
        self._publish()

    def _declared_plant(self) -> PlantSpec:
        self.refuse_scenario(PLANT)
        what = "What flies in which world, as YAML (see iap_physics.plant.plant_spec), or the path of a YAML file."
        text = self.parameter(PLANT, "", what)
        if not text:
            raise BadInput(f"parameter {PLANT}: missing, nothing to fly")
        return PlantSpec.read(text, source=f"parameter {PLANT}")

    def _make_vehicles(self, spec: PlantSpec) -> list[VehicleTopics]:
        control = spec.rates.control_hz
        what = "Of Odometry and TF [Hz], rounded to whole control periods."
        odometry = self.parameter("odometry_rate", 100.0, what, limits=(0.1, 1e4))
        what = "Of markers and joint_states [Hz], rounded to whole control periods."
        display = self.parameter("display_rate", 30.0, what, limits=(0.1, 1e4))
        every = (max(1, round(control / odometry)), max(1, round(control / display)))
        self._every_display = every[1]
        self._world = WorldTopics(self, spec.world, self._session.plant.engine)
        if self._session.joints is not None:
            kind, read = ModuleJointsMessage, MessageReader(ModuleJointsMessage).read
            self.inputs.listen(kind.TYPE, self.absolute("joints"), read, self._on_joints, LATEST)
        latches = LatchTopic.of(self, self._session.plant.part(Latches))
        joints = JointTopic.of(self, self._session)
        self._of_no_vehicle = [topic for topic in (latches, joints) if topic is not None]
        self._publish_mounts(spec)
        return [
            VehicleTopics(self, self._session, i, vehicle, every, self._on_command)
            for i, vehicle in enumerate(spec.vehicles)
        ]

    def _publish_mounts(self, spec: PlantSpec) -> None:
        """Publish the frames of the vehicles' hinges, and of their mounts unless these are another's to publish."""
        what = "Whether the frames of mounts are published here; false: robot_state_publisher does it."
        mine = self.parameter("mount_frames", True, what)
        kinds = (hinges_of, mounts_of) if mine else (hinges_of,)
        assemblies = [vehicle.assembly for vehicle in spec.vehicles]
        frames = [each for one in assemblies for kind in kinds for each in kind(one)]
        publish_static_frames(self, frames)

    def _serve(self) -> None:
        self.create_service(Trigger, "reset", self._on_reset)
        self.create_service(SetBool, "pause", self._on_pause)
        self._steps = self._status.steps = StepRequests(self._obstacle, self._advance_if_answered)
        what = (
            "Steps of a paused simulation end after that long without a command [s of wall time]."
        )
        self._step_timeout = self.parameter("step_timeout", 120.0, what, limits=(0.1, 86400.0))
        self._step_service = StepService(self, self._steps)
        if srv is not None:  # simulation_interfaces is installed
            self._time_services = TimeServices(self, self._session, self)
            self._entity_services = EntityServices(self, self._session, self)

    def _begin_pace(self, spec: PlantSpec) -> None:
        self._metronome = self._status.metronome = Metronome(spec.dt)
        self._resend_delay = FIRST_RESEND if self._pace == "lockstep" else LAST_RESEND
        self._resend_at = self._resend_delay
        self.create_timer(self._resend_delay, self._resend, clock=STEADY)
        self.create_timer(LAST_RESEND, self._look, clock=STEADY)
        if self._pace == "realtime":
            self.create_timer(0.5 * spec.dt, self._on_beat, clock=STEADY)
        if self._pace == "fast":
            self.create_timer(0.25 * FAST_TIMEOUT, self._on_impatience, clock=STEADY)

    def _look(self) -> None:
        """Report what has changed, show newcomers where time stands, and end steps that nobody answers."""
        self._status.look()
        if not self._may_advance:
            self._publish_rest(stamp_of_time(self._session.t), again=True)
        if self._steps.waited() > self._step_timeout:
            awaited = self._status.awaited() or "command"
            self._steps.end(f"no {awaited} within {self._step_timeout:g} s,")

    @property
    def _may_advance(self) -> bool:
        session = self._session
        is_running = not self._paused or self._steps.left > 0
        return is_running and session.has_begun and not session.is_broken

    def _on_joints(self, joints: ModuleJointsMessage) -> None:
        """Let latches hold as their coordinator wants it."""
        self._session.offer_joints(joints.stamp / SECOND, joints.requested_holds)
        self._on_command()

    def _on_command(self) -> None:
        if self._session.is_answered:
            self._status.answered()
            self._advance_if_answered()

    def _advance_if_answered(self) -> None:
        if self._pace == "realtime":
            self._on_beat()
        elif self._may_advance and self._session.is_answered:
            self._advance()

    def _on_beat(self) -> None:
        if not self._may_advance:
            self._metronome.stop()
        elif self._metronome.beat(ready=self._session.is_answered or self._session.is_holding):
            self._advance()

    def _on_impatience(self) -> None:
        patience = 0.0 if self._session.is_holding else FAST_TIMEOUT
        if self._may_advance and self._status.waited() > patience:
            self._advance()

    def _advance(self) -> None:
        began = time.perf_counter()
        self._session.advance()
        spent = time.perf_counter() - began
        if self._session.is_broken:
            self._steps.end(self._obstacle())
        else:
            self._publish()
        self._steps.flown(self._session.t)
        self._status.advanced(spent)

    def _publish(self) -> None:
        """Publish the present state: first what the controllers wait for, then the clock and the rest."""
        stamp = stamp_of_time(self._session.t)
        self._publish_states(stamp)
        self._status.published()
        self._resend_at = self._resend_delay
        self._publish_rest(stamp, again=False)
        if self._session.k % self._every_display == 0:
            self._world.publish_markers(stamp)

    def _publish_rest(self, stamp: int, *, again: bool) -> None:
        if self._clock_topic.is_due(again=again):
            self._clock_message.clock = stamp_message(stamp)
            self._clock_topic.publish(self._clock_message)
        for vehicle in self._vehicles:
            vehicle.publish_rest(stamp, again=again)

    def _publish_states(self, stamp: int) -> None:
        self._world.publish_state(stamp, self._session.k)
        for topic in self._of_no_vehicle:
            topic.publish(stamp, self._session.k)
        for vehicle in self._vehicles:
            vehicle.publish_state(stamp)

    def _resend(self) -> None:
        """Publish a state again that may have been lost, or that a new node has not seen, ever more rarely."""
        waited = self._status.waited()
        if waited < self._resend_at or self._session.is_broken:
            return
        self._resend_at = waited + min(waited, LAST_RESEND)
        self._publish_states(stamp_of_time(self._session.t))

    def destroy_node(self) -> None:
        """End with what the plant holds outside this process."""
        if hasattr(self, "_session"):  # a parameter that is refused ends the node before
            self._session.close()
        super().destroy_node()

    @property
    def steps(self) -> StepRequests:
        """The control periods that a paused simulation is to fly."""
        return self._steps

    @property
    def is_paused(self) -> bool:
        """True if time stands still but for single steps."""
        return bool(self._paused)

    def reset(self) -> None:
        """Begin anew at t = 0."""
        self._steps.end("reset")
        self._session.reset()
        self._metronome.stop()
        for vehicle in self._vehicles:
            vehicle.reset()
        self._status.reset()
        self._publish()

    def pause(self, *, paused: bool) -> None:
        """Let time stand still, or go on."""
        self._steps.end("paused" if paused else "going on")
        self._paused = self._status.paused = paused
        self._advance_if_answered()

    def show(self) -> None:
        """Publish the present state, which has changed while time stood still."""
        self._publish()

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.reset()
        response.success, response.message = True, "t = 0.000 s"
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.pause(paused=request.data)
        response.success, response.message = True, f"t = {self._session.t:.3f} s"
        return response

    def _obstacle(self) -> str:
        """Why time cannot go on by single steps; empty where it can."""
        if self._session.is_broken:
            return str(self._session.failure)
        return "" if self._paused else "not paused"


main = program("physics_node", PhysicsNode)

if __name__ == "__main__":
    sys.exit(main())
