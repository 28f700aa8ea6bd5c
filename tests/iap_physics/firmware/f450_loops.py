# SPDX-License-Identifier: BSD-3-Clause
"""Attitude and rate loop of an f450 for fake autopilots, in axes forward, right, down."""

IDLE = 0.01
PLACES = (
    (1, 1, 1),
    (-1, -1, 1),
    (1, -1, -1),
    (-1, 1, -1),
)  # x, y to the right, ccw; FR, RL, FL, RR
GAINS = (0.05, 0.05, 0.25)  # shares per error of the rate [s]


def attitude_loop(q, target, feed_forward, w):
    """Shares for roll, pitch and yaw, of attitudes w x y z and rates [rad/s]."""
    a, b, c, d = q
    e, f, g, h = target
    # The vector part of conj(q) target, which is half the turn that is left.
    scalar = a * e + b * f + c * g + d * h
    sign = 2.0 if scalar >= 0.0 else -2.0
    left = (
        a * f - b * e - c * h + d * g,
        a * g + b * h - c * e - d * f,
        a * h - b * g + c * f - d * e,
    )
    gains = (5.0, 5.0, 2.5)
    rates = [k * sign * each + r for k, each, r in zip(gains, left, feed_forward, strict=True)]
    return [k * (r - each) for k, r, each in zip(GAINS, rates, w, strict=True)]


def mixed(thrust, turns):
    """Shares of four rotors in the order front right, rear left, front left, rear right."""
    roll, pitch, yaw = turns
    # Right rotors roll to the left, front ones lift the nose, those that turn anticlockwise turn it to the right.
    shares = [thrust - roll * y + pitch * x + yaw * s for x, y, s in PLACES]
    return tuple(min(max(each, IDLE), 1.0) for each in shares)
