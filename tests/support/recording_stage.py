# SPDX-License-Identifier: BSD-3-Clause
"""A stage that draws nothing, and knows what stands on it."""

import numpy as np


class RecordingStage:
    """Nodes with their poses, sizes, parts and lines, by their names."""

    def __init__(self):
        self.frames, self.parts, self.lines = set(), {}, {}
        self.poses, self.sizes, self.visible = {}, {}, {}
        self.colors, self.points = {}, {}

    def add_frame(self, name, axes=0.0):
        self.frames.add(name)

    def add_part(self, name, part, texture=None):
        assert (part.texture is None) == (texture is None)
        self.parts[name] = part

    def add_lines(self, name, points, color, width):
        self.lines[name] = np.asarray(points)

    def add_arrow(self, name, color):
        self.sizes[name] = 0.0

    def add_ball(self, name, radius, color, opacity=1.0):
        self.sizes[name] = radius
        self.colors[name] = color

    def add_points(self, name, color, size):
        self.points[name] = np.zeros((0, 3))

    def scatter(self, name, points):
        assert np.isfinite(points).all()
        self.points[name] = points

    def place(self, name, pose):
        assert np.isfinite(pose).all()
        self.poses[name] = np.array(pose)

    def stretch(self, name, factor):
        self.sizes[name] = factor

    def show(self, name, *, visible):
        self.visible[name] = visible

    def remove(self, name):
        for kind in (self.lines, self.parts, self.poses, self.sizes, self.visible):
            kind.pop(name, None)
        self.frames.discard(name)
