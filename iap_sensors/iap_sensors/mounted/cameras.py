# SPDX-License-Identifier: BSD-3-Clause
"""All cameras of a run, and the one renderer that serves them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_description.math import euler, so3
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import SensorMount, optical, sensor_mount
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_description.sensors.sensor_info import ENCODINGS, CameraSensorInfo
from iap_description.states import P, Q, V, W
from iap_description.vehicles.aircraft import ROTORS
from iap_description.vehicles.arm_links import ArmLinks
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.urdf import mount_frame
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.model import stereo_baseline
from iap_sensors.cameras.renderer import Frame, Renderer, Shot
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.rig_spec import RigSpec, RigVehicle
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.mounted.visible_bodies import (
    TiltingRotors,
    visible_bodies,
    visible_links,
    visible_objects,
)

IN_THE_WORLD = -1  # as the row of a camera's body
POSE = slice(P.start, Q.stop)


@dataclass(frozen=True)
class MountedCamera:
    """A camera of a run and its place.

    Attributes:
        mount: its topic, without ``/image_raw``, its optical frame, and its place on its body, or in `map`; the body's
            index is that among all bodies, or `IN_THE_WORLD`.
        camera: what takes its images.
        parent: TF frame of the body.
        sampling: the control instants of its images.
        baseline: to the left camera of its pair [m]; 0 for any other.
    """

    mount: SensorMount
    camera: Camera
    parent: str
    sampling: Sampling
    baseline: float

    def shot(self, x: Array) -> Shot:
        """The camera in a state, rows (bodies + links, 13)."""
        mount = self.mount
        if mount.body == IN_THE_WORLD:
            return self.camera.shot((mount.p_BS_B, mount.q_BS))
        row = x[mount.body]
        arm_W = so3.rotate(row[Q], mount.p_BS_B)
        place = row[P] + arm_W, so3.multiply(row[Q], mount.q_BS)
        twist = row[V] + np.cross(row[W], arm_W), row[W].copy()
        return self.camera.shot(place, twist, hidden=(mount.body,))

    def readings(self, t: float, frame: Frame) -> list[ImageReading]:
        """The images of a frame, in the order of the camera's outputs."""
        frame = self.camera.develop(frame, t)
        pixels = {
            "mono8": frame.mono,
            "rgb8": frame.rgb,
            "depth": frame.depth,
            "segmentation": frame.labels,
        }
        return [
            ImageReading(self.mount.source, t, ENCODINGS[output], image)
            for output in self.camera.spec.outputs
            if (image := pixels[output]) is not None
        ]

    @property
    def info(self) -> CameraSensorInfo:
        """Its description."""
        spec = self.camera.spec
        return CameraSensorInfo(
            topic=self.mount.source.topic,
            frame=self.mount.source.frame,
            parent=self.parent,
            p_BS_B=tuple(self.mount.p_BS_B.tolist()),
            q_BS=tuple(optical(self.mount.q_BS).tolist()),
            rate=self.sampling.rate,
            outputs=spec.outputs,
            noise=spec.noise,
            exposure_time=0.0 if spec.blur is None else spec.blur.exposure_time,
            effects=() if spec.effects is None else tuple(spec.effects.specs),
            **self.camera.model.info(self.baseline),
        )


def mounted_cameras_of(rig: RigSpec) -> tuple[MountedCamera, ...]:
    """All cameras of a rig: of every aircraft of every vehicle, of arms, then those that stand in the world.

    Raises:
        BadInput: a camera without a place, or half a stereo pair.
    """
    mounted: list[MountedCamera] = []
    links, first = ArmLinks.of([each.assembly for each in rig.vehicles]), 0
    for vehicle in rig.vehicles:
        assembly = vehicle.assembly
        for body in assembly.aircraft:
            mounted += _on_aircraft(rig, vehicle, assembly, body, first)
        if assembly.arm is not None:
            mounted += _on_arm(rig, vehicle, assembly.arm, links, first)
        first += len(assembly.bodies)
    return (*mounted, *(_in_the_world(rig, name) for name in rig.cameras))


def _on_aircraft(
    rig: RigSpec, vehicle: RigVehicle, assembly: Assembly, body: int, first: int
) -> list[MountedCamera]:
    on_arm = () if assembly.arm is None else assembly.arm.record.mounts
    specs = {n: each for n, each in vehicle.sensors.cameras.items() if each.mount not in on_arm}
    mounts = {n: _camera_mount(assembly, body, first, n, spec) for n, spec in specs.items()}
    parent = f"{assembly.name}/{assembly.bodies[body].name}"
    return [
        _mounted(rig, name, spec, mounts[name], parent, _baseline(name, spec, mounts))
        for name, spec in specs.items()
    ]


def _on_arm(
    rig: RigSpec, vehicle: RigVehicle, arm: MountedArm, links: ArmLinks, base: int
) -> list[MountedCamera]:
    """The cameras on mounts of a vehicle's arm."""
    arm_mounts, mounts, parents = arm.record.mounts, {}, {}
    specs = {n: each for n, each in vehicle.sensors.cameras.items() if each.mount in arm_mounts}
    for name, spec in specs.items():
        assert spec.mount is not None  # noqa: S101 - one of the arm's
        place = arm_mounts[spec.mount]
        row = links.row(base, place.joint)
        link = links.bodies[row - links.first].name
        frame = f"{vehicle.name}/{mount_frame(link, spec.mount)}_optical"
        q_BS = euler.quaternion_from_rpy_deg(place.rpy_deg)
        source = SensorSource(f"/{vehicle.name}/arm/{name}", frame)
        mounts[name] = SensorMount(source, row, np.array(place.position), q_BS)
        parents[name] = f"{vehicle.name}/{link}"
    return [
        _mounted(rig, name, spec, mounts[name], parents[name], _baseline(name, spec, mounts))
        for name, spec in specs.items()
    ]


def _mounted(
    rig: RigSpec, name: str, spec: CameraSpec, mount: SensorMount, parent: str, baseline: float
) -> MountedCamera:
    camera = Camera(spec, stream(rig.seed, mount.source.topic))
    sampling = Sampling.of(spec.rate, rig.control_hz, f"camera '{name}'")
    return MountedCamera(mount, camera, parent, sampling, baseline)


def _camera_mount(
    assembly: Assembly, body: int, first: int, name: str, spec: CameraSpec
) -> SensorMount:
    key = f"sensors.cameras.{name}.mount"
    if spec.mount is None:
        raise BadInput(f"key '{key}': a camera of an aircraft needs the name of a mount")
    place = sensor_mount(assembly, body, spec.mount, name, key=key)
    source = SensorSource(place.source.topic, f"{place.source.frame}_optical")
    return SensorMount(source, first + body, place.p_BS_B, place.q_BS)


def _baseline(name: str, spec: CameraSpec, mounts: dict[str, SensorMount]) -> float:
    if spec.right_of is None:
        return 0.0
    key = f"sensors.cameras.{name}.right_of"
    if spec.right_of not in mounts:
        raise BadInput(f"key '{key}': there is no camera '{spec.right_of}'")
    left, right = mounts[spec.right_of], mounts[name]
    if left.body != right.body:
        raise BadInput(f"key '{key}': '{name}' and '{spec.right_of}' are on different bodies")
    pair = (left.p_BS_B, left.q_BS), (right.p_BS_B, right.q_BS)
    return stereo_baseline(*pair, key=key)


def _in_the_world(rig: RigSpec, name: str) -> MountedCamera:
    spec = rig.cameras[name]
    if spec.position is None or spec.rpy_deg is None:
        raise BadInput(f"key 'cameras.{name}': a camera in the world needs position and rpy_deg")
    q_WS = euler.quaternion_from_rpy_deg(spec.rpy_deg)
    source = SensorSource(f"/cameras/{name}", f"{name}_optical")
    mount = SensorMount(source, IN_THE_WORLD, np.array(spec.position), q_WS)
    return _mounted(rig, name, spec, mount, MAP, 0.0)


class MountedCameras:
    """The cameras of a run.

    Args:
        rig: with the world and the vehicles in it.
        cameras: those that are rendered.
        renderer: fresh; it is loaded here, and closed by whoever made it.

    Attributes:
        cameras: as given.
        count: images rendered so far.
        seconds: wall time that they took.
    """

    def __init__(self, rig: RigSpec, cameras: Sequence[MountedCamera], renderer: Renderer) -> None:
        self.cameras = tuple(cameras)
        self._renderer = renderer
        self.count, self.seconds = 0, 0.0
        self._rotors = TiltingRotors.of(rig)
        self._links = ArmLinks.of([each.assembly for each in rig.vehicles])
        bodies = [*visible_bodies(rig), *visible_links(rig), *visible_objects(rig)]
        bodies += self._rotors.parts
        self._first_rotor = len(bodies) - len(self._rotors.parts)
        self._upright = np.zeros((sum(len(v.assembly.aircraft) for v in rig.vehicles), ROTORS))
        renderer.load(rig.world.surroundings(), bodies)

    def reset(self, seed: int) -> None:
        """Noise starts anew."""
        for each in self.cameras:
            each.camera.reset(stream(seed, each.mount.source.topic))

    def sample(self, k: int, t: float, state: RigState) -> list[ImageReading]:
        """The images that are due at control instant k, time t [s], see `SensorSuite.sample`."""
        due = self.due(k)
        return self.shoot(due, t, state) if due else []

    def due(self, k: int) -> list[MountedCamera]:
        """Cameras that take an image at control instant k."""
        return [each for each in self.cameras if each.sampling.is_due(k)]

    def shoot(self, due: Sequence[MountedCamera], t: float, state: RigState) -> list[ImageReading]:
        """The images of some cameras in a state.

        Args:
            due: the cameras.
            t: time [s].
            state: of all that may be seen.
        """
        frames = self.frames(due, t, state)
        pairs = zip(due, frames, strict=True)
        return [image for each, frame in pairs for image in each.readings(t, frame)]

    def frames(self, due: Sequence[MountedCamera], t: float, state: RigState) -> list[Frame]:
        """Images of the renderer for some cameras, before they add their own, see `shoot`."""
        began = time.perf_counter()
        x = self._links.appended(state.rows, state.joints)
        tilts = self._upright if state.tilts is None else state.tilts
        turned = self._rotors.poses(state.rows, tilts)
        poses = np.vstack([x[:, POSE], state.objects[:, POSE], turned])
        frames = self._renderer.render([self._shot(each, x, t) for each in due], poses)
        self.seconds += time.perf_counter() - began
        self.count += len(frames)
        return frames

    def _shot(self, camera: MountedCamera, x: Array, t: float) -> Shot:
        """A camera in a state at a time [s]; the rotors on its body are hidden like that."""
        shot = camera.shot(x)
        rotors = self._rotors.carried_by(shot.hidden)
        return replace(shot, hidden=(*shot.hidden, *(self._first_rotor + i for i in rotors)), t=t)
