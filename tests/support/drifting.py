# SPDX-License-Identifier: BSD-3-Clause
"""Made-up odometries that drift, and what becomes of a drift filter that hears them."""

import numpy as np
from synthetic import CENTRE
from synthetic_fleet import Noise

from iap_description.math import so3
from iap_estimation.virpo.drift.spec import load_spec
from iap_estimation.virpo.messages import Estimate

NOISE = Noise(gyro=0.0015, gyro_bias=0.003, range=0.7071, tilt=0.01)
OWN = np.diag(np.repeat([1.0, 1e-4, 4e-4, 1e-6, 1e-4], 3))  # covariance an odometry tells


class Drift:
    """An odometry's frame in W over time: yaw and place at the start, constant rates, random walks."""

    def __init__(
        self, yaw=0.0, place=(0, 0, 0), yaw_rate=0.0, speed=(0, 0, 0), walk=(0, 0), seed=0
    ):
        self._start, self._rates = (yaw, np.array(place)), (yaw_rate, np.array(speed))
        self._walk, self._seed = walk, seed

    def odometry(self, flight, aircraft, rate=10.0, jitter=0.0):
        """Its estimates: ways are turned by the drift's yaw, and the place slips."""
        rng = np.random.default_rng([self._seed, aircraft])
        stamps = flight.stamps(rate)
        true = flight.motion(aircraft).at(stamps)
        yaw, (yaw_rate, speed) = self._start[0], self._rates
        back = so3.quaternion_exp(np.array([0.0, 0.0, -yaw]))
        p = so3.rotate(back, true.p_WB_W[0] - self._start[1])
        told = []
        for k, t in enumerate(stamps.tolist()):
            if k:
                dt = t - stamps[k - 1]
                middle = yaw + 0.5 * yaw_rate * dt
                back = so3.quaternion_exp(np.array([0.0, 0.0, -middle]))
                slip = speed * dt + self._walk[0] * dt**0.5 * rng.normal(size=3)
                p = p + so3.rotate(back, true.p_WB_W[k] - true.p_WB_W[k - 1] - slip)
                yaw += yaw_rate * dt + self._walk[1] * dt**0.5 * rng.normal()
            back = so3.quaternion_exp(np.array([0.0, 0.0, -yaw]))
            q, v = so3.multiply(back, true.q_WB[k]), so3.rotate(back, true.v_WB_W[k])
            seen = p + jitter * rng.normal(size=3)
            told.append(Estimate(t, seen, q, v, np.full(3, 0.01), np.full(3, 0.1), OWN))
        return told


def messages(flight, drifts, rate=10.0, jitter=0.0, ranged=None):
    """(stamp, order, kind, aircraft, message) of everything, in order of arrival on time."""
    out = [(m.t, 0, "tilt", CENTRE, m) for m in flight.tilt()]
    for a, drift in enumerate(drifts):
        if ranged is None or a in ranged:
            out += [(m.t, 1, "ranges", a, m) for m in flight.ranges(a)]
        out += [(m.t, 2, "odometry", a, m) for m in drift.odometry(flight, a, rate, jitter)]
    return sorted(out, key=lambda one: (round(one[0], 4), one[1], one[3]))


def fed(drift_filter, arrivals, watch=None):
    """A filter that has heard everything; `watch` is called after each update."""
    for *_, kind, a, message in arrivals:
        told = (message,) if kind == "tilt" else (a, message)
        if getattr(drift_filter, kind)(*told) and watch is not None:
            watch(drift_filter)
    return drift_filter


def spec_with(**changes):
    return load_spec().model_copy(update=changes)


def wide(position=2.0, yaw_deg=15.0, **changes):
    """Settings of a start that is not known."""
    start = load_spec().start.model_copy(update={"position": position, "yaw_deg": yaw_deg})
    return spec_with(start=start, **changes)


def off(flight, told, aircraft):
    """Place against the truth [m]."""
    return told.p_WB_W - flight.truth(aircraft, told.t).p_WB_W


def turned_off(flight, told, aircraft):
    """Attitude against the truth (3,) in W [rad]."""
    q = flight.truth(aircraft, told.t).q_WB
    return so3.quaternion_log(so3.multiply(told.q_WB, so3.conjugate(q)))


def assert_attitude(flight, told):
    """Roll and pitch of the centre are right, its yaw as it says."""
    error = turned_off(flight, told, CENTRE)
    up = so3.rotate(so3.conjugate(told.q_WB), np.array([0.0, 0.0, 1.0]))
    assert np.abs(error[:2]).max() < 0.02
    assert abs(error[2]) < 3.0 * np.sqrt(up @ told.covariance[3:6, 3:6] @ up)


class ErrorLog:
    """Errors of all updates: (updates, A + 1), the centre last."""

    def __init__(self, flight):
        self._flight, self.errors, self.nees, self.t = flight, [], [], []

    def __call__(self, drift_filter):
        told = drift_filter.estimates()
        if drift_filter.centre() is None or len(told) < len(self._flight.bodies):
            return
        bodies = list(enumerate(told)) + [(CENTRE, drift_filter.centre())]
        parts = [off(self._flight, one, a) for a, one in bodies]
        self.errors.append([np.linalg.norm(part) for part in parts])
        covs = [one.covariance[:3, :3] for _, one in bodies]
        self.nees.append([e @ np.linalg.solve(C, e) / 3 for e, C in zip(parts, covs, strict=True)])
        self.t.append(drift_filter.t)

    def rms(self, since=0.0, until=np.inf):
        t = np.array(self.t)
        chosen = np.array(self.errors)[(t >= since) & (t <= until)]
        return np.sqrt(np.mean(chosen**2, axis=0))


def lost(arrivals, aircraft, since, until, kinds=("odometry",)):
    """Arrivals without some of a while."""
    return [
        one
        for one in arrivals
        if not (one[2] in kinds and one[3] in aircraft and since < one[0] < until)
    ]


WALKS = [Drift(walk=(0.02, 0.004), seed=s) for s in (1, 2, 3)]
