# SPDX-License-Identifier: BSD-3-Clause
"""Flights in which something is held: a patch that perches, a pair that docks and parts, a gripper with a box."""

from pathlib import Path
from typing import Any

import yaml

PAGE = Path(__file__).parents[2] / "docs/how_to/perch.md"
SCENARIO = yaml.safe_load(PAGE.read_text().split("```yaml file=perch.yaml")[1].split("```")[0])
SETTINGS = {
    "engine.name": "mujoco",
    "start.lead_in": 0.0,
    "reference.position": [-2.2, 0.0, 2.0],
    "draw.position": 0.02,
    "draw.attitude_deg": 2.0,
    "draw.mass": 0.05,
    "draw.com": 0.002,
    "draw.object_position": [0.03, 0.0, 0.0],
    "draw.face_speed": 0.2,
}
QUIET = {"position": 0.0, "attitude_deg": 0.0, "velocity": 0.0, "rate_deg": 0.0}
PAIR = {  # the chaser goes 0.3 m forwards, into the socket, and is let go
    "engine.name": "mujoco",
    "docking": None,
    "policy": None,
    "duration": None,
    "vehicles.0.state_noise": QUIET,
    "vehicles.1.state_noise": QUIET,
    "vehicles.0.reference.duration": 4.0,
    "vehicles.1.reference": {
        "type": "moves",
        "position": [0.0, -0.8, 5.0],
        "ease": 0.4,
        "moves": [
            {"seconds": 1.2, "by": [0.0, 0.3, 0.0], "turn_deg": [0.0, 0.0, 0.0]},
            {"seconds": 1.0, "by": [0.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]},
        ],
        "rpy_deg": [0.0, 0.0, 0.0],
    },
    "latches.dock.release": 1.6,
    "draw.position": 0.005,
    "draw.attitude_deg": 0.5,
}
ROUGH = {"friction": 0.6, "restitution": 0.0}
LEVEL = {"rpy_deg": [0.0, 0.0, 0.0]}
BOX = {"type": "box", "size": [0.08, 0.08, 0.08], "mass": 0.2, "surface": ROUGH, **LEVEL}
TABLE = {"type": "box", "size": [0.3, 0.4, 0.6], "surface": ROUGH, **LEVEL}
UP = {"seconds": 0.5, "by": [0.0, 0.0, 0.1], "turn_deg": [0.0, 0.0, 0.0]}
PICK: dict[str, Any] = {  # the tip is 4 mm above a box, takes it and rises
    "engine.name": "mujoco",
    "reference.position": [0.0, 0.0, 1.5],
    "reference.ease": 0.2,
    "reference.moves": [UP],
    "world.objects": {
        "table": {**TABLE, "position": [0.39, 0.0, 0.914]},
        "box": {**BOX, "position": [0.26, 0.0, 1.254]},
    },
    "arm.motion": {"type": "trajectory", "points": [{"t": 0.6, "q": [0.1, 0.1, 0.1]}]},
    "gripper.close": 0.1,
    "gripper.open": 0.6,
    "gripper.reach": 0.04,
    "draw.position": 0.002,
    "draw.attitude_deg": 0.5,
}
PLAIN = {**PICK, "arm.feed_forward": "none"}
