# SPDX-License-Identifier: BSD-3-Clause
"""A short flight whose sensors' words are known in one process, and then said on topics: late, lost or not at all."""

import time
from collections.abc import Callable
from functools import cached_property

import numpy as np

from iap_bringup.launching.node_parameters import estimator_parameters
from iap_description.math import so3
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.vehicles.assembly import Assembly
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.navigation.settings import load_settings
from iap_estimation.nodes.track_messages import tracks_bytes
from iap_estimation.virpo.localizer import make_localizer, named_estimates, pass_on
from iap_estimation.virpo.messages import Estimate, Tracks
from iap_io.ros.message_classes import message_class
from iap_io.ros.node import EVERY
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.wire.message_views import StateMessage
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

SCENARIO = "figure_eight"
ASSIGNMENTS = ["engine.name=closed_form"]
FEATURES, STATE = "iap_msgs/msg/FeatureTracks", "iap_msgs/msg/PlatformState"
IMAGES = 10  # states between two images
NOISE = 0.3  # of tracks [px]
HURRY = 0.02  # by which words may come late [s]
SCENE, _ = resolve(SCENARIO, Options(sensors="stereo", assignments=tuple(ASSIGNMENTS)))
PARAMETERS = estimator_parameters(SCENE, SCENE.vehicles[0])
Change = Callable[
    [str, float], float | None
]  # topic and time said of -> when it is said, None: never


class Keep:
    """Keeps all states, by their numbers, and all readings of a flight."""

    def __init__(self) -> None:
        self.states, self.readings = {}, []

    def record(self, _: int, step) -> None:
        self.states[round(step.t * 200)] = step.x.copy()

    def receive(self, reading) -> None:
        self.readings.append(reading)


class Play:
    """The flight.

    Args:
        duration: of it [s].
    """

    def __init__(self, duration: float) -> None:
        given = Options(sensors="stereo", duration=duration, assignments=tuple(ASSIGNMENTS))
        self.scenario, _ = resolve(SCENARIO, given)
        flight = Flight.of(self.scenario)
        metas = {meta.topic: meta for meta in flight.sensors.suite.infos}
        assembly = Assembly.of(self.scenario.vehicles[0].platform)
        self.sensor_set = SensorSet.of(assembly, list(metas.values()), 9.81)
        keep = Keep()
        with Simulation(flight, render=False) as simulation:
            simulation.begin(observers=[keep], sinks=[keep])
            simulation.fly()
        self.states = keep.states
        self._encoders = {
            t: encoder(m) for t, m in metas.items() if not isinstance(m, CameraSensorInfo)
        }
        self._readings = keep.readings

    @cached_property
    def words(self) -> list[tuple[float, str, str, bytes]]:
        """Time, topic, type and message of everything that is said."""
        out = []
        for reading in self._readings:
            encode = self._encoders[reading.source.topic]
            for topic, parts in encode(reading):
                out.append((reading.t, topic, encode.topics[topic], b"".join(parts)))
        state = StateMessage.of(Assembly.of(self.scenario.vehicles[0].platform), 12)
        for k, x in self.states.items():
            state.put_head(5_000_000 * k, k)
            state.put_rows(x, np.zeros((3, 4)))
            out.append((k / 200, "/iap/state", STATE, state.dump()))
            if k % IMAGES == 0:
                for a in range(3):
                    topic = f"/iap/drone_{a + 1}/virpo/tracks"
                    said = tracks_bytes(self.tracks(a, k), "camera")
                    out.append((k / 200, topic, FEATURES, said))
        return sorted(out, key=lambda word: word[0])

    def unit(self, aircraft: int, t: float) -> np.ndarray:
        """True state (16,) of an inertial unit."""
        own, x = self.sensor_set, self.states[round(t * 200)]
        return own.mounts[aircraft].unit(x[own.rows[aircraft]])

    def tracks(self, aircraft: int, k: int) -> Tracks:
        """Tracks of points all around in a stereo pair."""
        rng = np.random.default_rng(1)
        ways = rng.normal(size=(600, 3))
        points_W = 8.0 * ways / np.linalg.norm(ways, axis=1)[:, None] + [0.0, 0.0, 3.0]
        x = self.unit(aircraft, k / 200)
        pair = self.sensor_set.aircraft[aircraft].calibration
        noise = np.random.default_rng([k, aircraft]).normal(size=(600, 2, 2)) * NOISE / 320.0
        views = np.full((600, 4), np.nan)
        body = so3.rotate(np.broadcast_to(so3.conjugate(x[3:7]), (600, 4)), points_W - x[:3])
        for side, (p, q) in enumerate(zip(pair.p_BC_B, pair.q_BC, strict=True)):
            seen = so3.rotate(np.broadcast_to(so3.conjugate(q), (600, 4)), body - p)
            xy = seen[:, :2] / seen[:, 2:] + noise[:, side]
            inside = (seen[:, 2] > 0.5) & (np.abs(xy) < [0.9, 0.7]).all(axis=1)
            views[inside, 2 * side : 2 * side + 2] = xy[inside]
        left, right = np.isfinite(views[:, 0]), np.isfinite(views[:, 2])
        which = np.flatnonzero(left)[:100]
        return Tracks(k / 200, which, views[which], right[which])

    def localized(self, method: str) -> dict[str, dict[float, Estimate]]:
        """Estimates of a method in one process, by body and time."""
        own, found = self.sensor_set, {}
        spec = load_settings().estimator
        localizer = make_localizer(method, own.fleet(spec), spec, self.unit)
        adapter = ReadingAdapter(own.carried, own.central)
        events = [each for each in map(adapter, self._readings) if each is not None]
        events += [
            (a, self.tracks(a, k)) for k in self.states if k % IMAGES == 0 for a in range(3)
        ]
        for who, measured in sorted(events, key=lambda event: event[1].t):
            if pass_on(localizer, who, measured):
                names = [each.name for each in own.aircraft]
                for name, one in named_estimates(localizer, names).items():
                    found.setdefault(name, {})[round(one.t, 4)] = one
        return found

    def say(
        self,
        probe,
        change: Change = lambda _, t: t,
        during: Callable[[float], None] = lambda t: None,
    ) -> None:
        """Say everything in real time; where this process was not given the time, all of it comes later, never at once.

        Args:
            probe: whose node says it.
            change: see `Change`.
            during: called all the while with the time of the flight [s].
        """
        words = [(change(topic, t), topic, kind, data) for t, topic, kind, data in self.words]
        said = sorted((word for word in words if word[0] is not None), key=lambda word: word[0])
        kinds = {topic: kind for _, topic, kind, _ in said}
        outlets = {
            topic: probe.node.create_publisher(message_class(kind), topic, EVERY)
            for topic, kind in kinds.items()
        }
        wanted = [t for t in outlets if t.endswith(("imu", "tracks", "uwb"))]

        def is_heard(topic: str) -> bool:
            """Whoever listens is also known to the publisher."""
            count = outlets[topic].get_subscription_count()
            return 0 < count == probe.node.count_subscribers(topic)

        probe.wait(lambda: all(map(is_heard, wanted)), "nodes that listen")
        probe.stays(lambda: True, 0.5)
        began = time.monotonic()
        for t, topic, _, data in said:
            while time.monotonic() - began < t:
                probe.stays(lambda: True, 0.005)
            began += max(time.monotonic() - began - t - HURRY, 0.0)
            during(t)
            outlets[topic].publish(data)


def error(play: Play, message, aircraft: int | None) -> float:
    """Distance of an Odometry from the truth of an aircraft, or of the central body [m]."""
    stamp, p = message.header.stamp, message.pose.pose.position
    t = stamp.sec + 1e-9 * stamp.nanosec
    true = play.states[round(t * 200)][0] if aircraft is None else play.unit(aircraft, t)
    return float(np.linalg.norm(np.array([p.x, p.y, p.z]) - true[:3]))
