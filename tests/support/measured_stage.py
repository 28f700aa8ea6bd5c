# SPDX-License-Identifier: BSD-3-Clause
"""A stage that knows sizes, widths and opacities, and steps with other numbers everywhere."""

import numpy as np
from recording_stage import RecordingStage

from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.scene_notes import couplings_of
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Q
from iap_simulation.scenario.rig_spec import rig_spec

RNG = np.random.default_rng(11)


class MeasuredStage(RecordingStage):
    """A stage that knows sizes of axes, widths of lines, and opacities, too."""

    def __init__(self):
        super().__init__()
        self.axes, self.widths, self.opacities, self.textures = {}, {}, {}, {}

    def add_frame(self, name, axes=0.0):
        super().add_frame(name, axes)
        self.axes[name] = axes

    def add_part(self, name, part, texture=None):
        super().add_part(name, part, texture)
        self.textures[name] = texture

    def add_lines(self, name, points, color, width):
        super().add_lines(name, points, color, width)
        self.widths[name], self.colors[name] = width, color

    def add_arrow(self, name, color):
        super().add_arrow(name, color)
        self.colors[name] = color

    def add_ball(self, name, radius, color, opacity=1.0):
        super().add_ball(name, radius, color, opacity)
        self.opacities[name] = opacity

    def add_points(self, name, color, size):
        super().add_points(name, color, size)
        self.colors[name], self.widths[name] = color, size


def random_rows(count):
    """States (count, 13) anywhere."""
    rows = RNG.normal(size=(count, 13))
    rows[:, Q] = so3.normalized(rows[:, Q])
    return rows


def moved(step):
    """A step with other numbers everywhere."""
    rows = random_rows(len(step.x))
    row = step.reference.row.copy()
    row[:7] = random_rows(1)[0, :7]
    arm = step.arm
    if arm is not None:
        arm = arm._replace(q=RNG.normal(size=arm.q.shape), v=RNG.normal(size=arm.v.shape))
    return step._replace(
        x=rows,
        reference=Reference(row, step.reference.level),
        rpm=RNG.uniform(1000.0, 9000.0, step.rpm.shape),
        arm=arm,
        estimated=random_rows(len(step.x)),
    )


def scene_of(flight):
    """A stage with a flight's scene, without an instant."""
    couplings = couplings_of(flight.scenario)
    scene = FlightScene(rig_spec(flight.scenario), flight.meta, couplings=couplings)
    stage = MeasuredStage()
    scene.add(stage)
    return scene, stage
