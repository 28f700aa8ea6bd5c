# SPDX-License-Identifier: BSD-3-Clause
"""Settings of modules that dock: geometry of their faces, thresholds of the state machine, compensation."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from iap_control.modules.mission import JoinStep, MissionStep, PartStep
from iap_description.config.record import Presets, Record, merged
from iap_description.config.values import Count, Flag, Hertz, NonNegative, Positive, Real, Share
from iap_description.errors import BadInput, shown
from iap_description.vehicles.face_latch import CatchLimits
from iap_description.vehicles.proximity import Proximity

PRESETS = Presets(Path(__file__).parents[1] / "data" / "modules", "preset of modules")

Compensation = Literal["none", "printed", "default"]
Face = Literal["+x", "-x", "+y", "-y"]
FACES: dict[Face, tuple[float, float, float]] = {
    "+x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "+y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
}
OPPOSITE: dict[Face, Face] = {"+x": "-x", "-x": "+x", "+y": "-y", "-y": "+y"}
Six = tuple[Real, Real, Real, Real, Real, Real]


class DrogueLimits(Record):
    """Misalignment up to which a face takes a module: the opening of the drogue's cone."""

    gap: Positive  # between the faces, along their axis [m]
    offset: Positive  # across it [m]
    angle: Positive  # of attitudes, about every axis [rad]


class Alignment(Record):
    """The state in which the follower stands before the leader's face until it is in line."""

    standoff: Positive  # gap between the faces [m]
    offset: Positive  # largest error along every axis, filtered [m]
    angle: Positive  # largest filtered error about every axis [rad]
    hold: NonNegative  # for so long [s]
    filter_time: Positive  # time constant of the errors' low-pass [s]
    speed: Positive  # at which its reference moves [m/s]


class ApproachState(Record):
    """The state in which it closes in, and presses."""

    press: NonNegative  # way of the reference into the leader [m]
    speed: Positive  # at which its reference moves [m/s]
    gap: Positive  # the faces have met where they are no further apart [m]
    offset: Positive  # largest error across the axis then [m]
    angle: Positive  # and about every axis [rad]
    lost_offset: Positive  # back to alignment where an error across the axis is larger [m]
    lost_angle: Positive  # or one of the angles [rad]
    recedes: Positive  # or where it has receded so far from the nearest that it was [m]

    @property
    def catch_limits(self) -> CatchLimits:
        """Limits below which the latch catches."""
        return CatchLimits(self.gap, self.offset, self.angle)


class AssemblyState(Record):
    """The state in which latches lock, and all wait."""

    lock: NonNegative  # after the latch has caught, until it counts as locked [s]
    settle: NonNegative  # all hold, before "joined" is announced [s]


class Separation(Record):
    """The state in which it parts."""

    announce: NonNegative  # after "separated" is announced, before it moves [s]
    speed: Positive  # at which it moves off [m/s]
    distance: Positive  # of the CoMs, at which it holds [m]


class Emergency(Record):
    """The last resort: the follower flies off along the axis."""

    distance: Positive  # so far from where it was [m]
    speed: Positive  # [m/s]


class MachineSettings(Record):
    """Thresholds of the state machine of one joint, beatle's code with its failure test taken for any axis."""

    alignment: Alignment
    approach: ApproachState
    assembly: AssemblyState
    separation: Separation
    emergency: Emergency
    drogue: DrogueLimits
    pose_filter: Positive  # time constant of where modules are, off their references [s]
    acceleration: Positive  # of the follower's reference [m/s^2]
    retries: Annotated[int, Field(strict=True, ge=0)]  # returns to alignment before an emergency
    patience: Positive  # longest time in alignment and approach together [s]


class SteeringSettings(Record):
    """Gains by which a whole structure is turned against its leader's attitude error, see `steering`."""

    gain: NonNegative  # angular acceleration per angle [1/s^2]; 0 leaves it to the leader, as in print
    filter_time: Positive  # of the error [s]
    common_time: Positive  # what of it is slower is the leader's own, what is faster the mean of all modules' [s]
    integral: NonNegative  # rate with which a lasting error adds up to more [1/s]
    limit: NonNegative  # what it adds up to, as an angle [rad]


class ModuleJointSpec(Record):
    """Two faces that dock: the follower comes to the leader, which holds."""

    leader: str  # vehicle of the face that is docked onto
    face: Face  # of it
    follower: str  # vehicle that moves
    joined: Flag = False  # from the start
    closes: Flag = False  # it closes a loop of joints, as is announced here
    desired: Six = (
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    )  # wrench that the leader shall exert on it [N, N m]

    @model_validator(mode="after")
    def _are_two(self) -> Self:
        if self.leader == self.follower:
            raise ValueError(f"key 'follower': '{self.follower}' cannot be joined to itself")
        return self


class ModuleFault(Record):
    """A module that is lost in flight: its controller falls silent, or its motors stop."""

    module: str  # vehicle
    at: Positive  # [s]
    kind: Literal["controller", "motors"]  # silent: its rotors hold what was commanded last


class ModulesSpec(Record):
    """Modules of one world: their joints, what is done with them, and how."""

    size: Positive  # of a module between opposite faces [m]
    faces: Annotated[tuple[Face, ...], Field(min_length=1)]  # that have latches
    latch_force: Positive  # that a latch bears [N]
    rate: Hertz  # of coordination [Hz]
    gain: Share  # k of the feed-forward, per period
    gain_limit: Share  # of what a period adds, k times the connectivity of a structure
    compensation: Compensation
    wrench_source: Literal[
        "observer", "joint"
    ]  # what is known of joints: by estimates, or measured in them
    steering: SteeringSettings
    observer_gain: tuple[
        NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative
    ]  # K_I, forces and torques [1/s]
    standing: Positive  # mean force on modules beyond which they stand on something, and feed-forward waits [N]
    wind_time: NonNegative  # low-pass of the level force that all feel, and push against; 0: as in print [s]
    lost_after: Positive  # without a command a module is lost, and a neighbour leads [s]
    count: Count | None = (
        None  # of a chain along x that is joined from the start; None: joints are listed
    )
    machine: MachineSettings
    proximity: Proximity  # the air between modules that fly close
    joints: dict[str, ModuleJointSpec] = {}
    mission: tuple[MissionStep, ...] = ()
    faults: tuple[ModuleFault, ...] = ()

    @property
    def steered(self) -> SteeringSettings:
        """Steering as it acts: with compensation only, since else followers hold the structure as well."""
        acts = self.compensation == "default"
        return self.steering if acts else self.steering.model_copy(update={"gain": 0.0})

    @property
    def replaces_integral(self) -> bool:
        """True if feed-forward stands in place of followers' integrals; without compensation all keep theirs."""
        return self.compensation != "none"

    @model_validator(mode="after")
    def _mission_is_known(self) -> Self:
        for i, step in enumerate(self.mission):
            if step.joint is not None and step.joint not in self.joints:
                known = ", ".join(self.joints) or "none"
                raise ValueError(f"key 'mission.{i}': no joint '{step.joint}' (joints: {known})")
        return self

    @model_validator(mode="after")
    def _mission_fits(self) -> Self:
        joined = {name for name, joint in self.joints.items() if joint.joined}
        for i, step in enumerate(self.mission):
            if isinstance(step, JoinStep):
                self._check_join(f"key 'mission.{i}': join '{step.join}'", step.join, joined)
                joined.add(step.join)
            elif isinstance(step, PartStep):
                if step.part not in joined:
                    raise ValueError(
                        f"key 'mission.{i}': part '{step.part}': it is not joined then"
                    )
                joined.remove(step.part)
        return self

    def _check_join(self, what: str, name: str, joined: set[str]) -> None:
        """Refuse a joint that is joined by then, or closes a loop of such that its key does not announce."""
        if name in joined:
            raise ValueError(f"{what}: it is joined already then")
        joint = self.joints[name]
        connected, pairs = (
            {joint.leader},
            [{self.joints[n].leader, self.joints[n].follower} for n in joined],
        )
        while reached := {each for pair in pairs if pair & connected for each in pair} - connected:
            connected |= reached
        if joint.follower in connected and not joint.closes:
            raise ValueError(
                f"{what}: it closes a loop of joints, and its key 'closes' announces none"
            )

    @model_validator(mode="after")
    def _faces_are_there(self) -> Self:
        for name, joint in self.joints.items():
            for module, face in (
                (joint.leader, joint.face),
                (joint.follower, OPPOSITE[joint.face]),
            ):
                if face not in self.faces:
                    there = ", ".join(self.faces)
                    raise ValueError(
                        f"key 'joints.{name}': '{module}' has no latch at {face} (faces: {there})"
                    )
        return self


def modules_tree(value: object, source: str) -> object:
    """The plain tree of a key `modules` on top of the preset that it names; None where there are no modules.

    Raises:
        BadInput: no mapping, or no such preset.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadInput(f"{source}: key 'modules': a mapping is expected (got {shown(value)})")
    tree: dict[str, Any] = dict(value)
    preset = tree.pop("preset", None)
    return tree if preset is None else merged(PRESETS.tree(str(preset)), tree)
