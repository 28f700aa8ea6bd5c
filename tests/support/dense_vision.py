# SPDX-License-Identifier: BSD-3-Clause
"""Views of random landmarks, and their normal equations with the landmarks left in."""

import numpy as np
from jacobians import some_states

from iap_description.math import so3
from iap_estimation.virpo.algebra.normal_equations import soften
from iap_estimation.virpo.algebra.states import States
from iap_estimation.virpo.factors.camera import StereoRig, project, project_jacobians, scaled_point
from iap_estimation.virpo.factors.landmarks import LEFT, RIGHT, Landmarks

OPEN = 1e9  # width of a kernel that bends nothing


def any_rig(seed: int = 0, pixels: float = 1.5) -> StereoRig:
    """Two cameras that look forward, turned against each other, anywhere on the body."""
    rng = np.random.default_rng(seed)
    forward = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], dtype=float)
    q = so3.quaternion_from_matrix(forward)
    turned = so3.multiply(np.array([q, q]), so3.quaternion_exp(0.1 * rng.normal(size=(2, 3))))
    places = np.array([[0.2, 0.1, 0.0], [0.2, -0.1, 0.05]]) + 0.05 * rng.normal(size=(2, 3))
    return StereoRig.of(turned, places, focal=320.0, pixels=pixels)


def ahead(frames: int, aircraft: int = 1, **others) -> States:
    """States close together, so that what is in front of one is in front of all."""
    states = some_states(frames, aircraft, **others)
    states.x[..., :3] *= 0.4
    turn = so3.quaternion_log(states.x[..., 3:7])
    states.x[..., 3:7] = so3.quaternion_exp(0.2 * turn)
    return states


def look(
    states: States, rigs: list[StereoRig], each: int, *, pixels: float = 1.0, seed: int = 0
) -> Landmarks:
    """A table of so many landmarks of each aircraft, seen with noise by most cameras from their host on."""
    rng = np.random.default_rng(seed)
    frames, aircraft = states.x.shape[:2]
    table = Landmarks.empty(each * aircraft + 2, frames)  # and two free rows
    for m in range(each * aircraft):
        a, i = m % aircraft, int(rng.integers(frames - 1))
        table.track[m], table.aircraft[m], table.host[m], table.known[m] = m, a, i, 1
        table.place[m] = *rng.uniform(-0.5, 0.5, 2), 1.0 / rng.uniform(2.0, 8.0)
        for j in range(i, frames):
            for side in range(2):
                s = scaled_point(states.x[i, a], states.x[j, a], table.place[m], rigs[a], side)
                noise = pixels / rigs[a].focal * rng.normal(size=2)
                table.views[m, j, 2 * side : 2 * side + 2] = np.array(s[:2]) / s[2] + noise
            may_lack = rng.random() < 0.3
            table.sides[m, j] = (0 if j > i and rng.random() < 0.2 else LEFT) if may_lack else 3
    table.place[: each * aircraft] += 0.02 * rng.normal(size=(each * aircraft, 3))
    table.place[:, 2] = np.clip(table.place[:, 2], 0.05, 1.0)
    return table


def of_view(
    states: States, table: Landmarks, rig: StereoRig, m: int, j: int, side: int
) -> tuple[np.ndarray, np.ndarray]:
    """Whitened residual of one view and its derivatives by pose i, pose j and the landmark (2, 15)."""
    r, J, a = np.empty(2), np.zeros((2, 15)), table.aircraft[m]
    x_i, x_j = states.x[table.host[m], a], states.x[j, a]
    s = scaled_point(x_i, x_j, table.place[m], rig, side)
    project(s, table.views[m, j, 2 * side : 2 * side + 2], rig.deviation, r)
    project_jacobians(x_i, x_j, table.place[m], rig, side, s, J)
    return r, J


def seen_views(table: Landmarks) -> list[tuple[int, int, int]]:
    """Landmark, keyframe and camera of every view."""
    return [
        (m, j, side)
        for m in np.flatnonzero(table.host >= 0).tolist()
        for j in range(table.host[m], table.sides.shape[1])
        for side, bit in enumerate((LEFT, RIGHT))
        if table.sides[m, j] & bit
    ]


def dense(
    states: States, table: Landmarks, rigs: list[StereoRig], width: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """H, g and cost of all views; the landmarks' places follow the states', three of each row."""
    n = states.size + 3 * len(table.host)
    H, g, cost = np.zeros((n, n)), np.zeros(n), 0.0
    for m, j, side in seen_views(table):
        a, i = table.aircraft[m], table.host[m]
        r, J = of_view(states, table, rigs[a], m, j, side)
        cost += soften(r, J, width)
        wide = np.zeros((2, n))
        for part, at in enumerate((i, j)):
            at = at * states.stride + 15 * a
            wide[:, at : at + 6] += J[:, 6 * part : 6 * part + 6]
        wide[:, states.size + 3 * m : states.size + 3 * m + 3] = J[:, 12:]
        H += wide.T @ wide
        g += wide.T @ r
    return H, g, cost
