# SPDX-License-Identifier: BSD-3-Clause
"""Framebuffers that images are drawn to, before they are read back."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Literal

import moderngl
import numpy as np
from numpy.typing import NDArray

Kind = Literal["mono", "color", "range", "light", "colored_light"]
CHANNELS: dict[Kind, tuple[int, str, type]] = {
    "mono": (1, "f1", np.uint8),
    "color": (4, "f1", np.uint8),
    "range": (2, "f4", np.float32),
    "light": (1, "f4", np.float32),
    "colored_light": (4, "f4", np.float32),
}
LIGHT: dict[Kind, Kind] = {"mono": "light", "color": "colored_light"}  # in place of levels


@dataclass(frozen=True)
class Format:
    """Size [pixels], contents, and samples per pixel at the edges of surfaces."""

    width: int
    height: int
    kind: Kind
    samples: int

    @property
    def is_grey(self) -> bool:
        """True if it has one channel of what things look like."""
        return self.kind in ("mono", "light")

    @property
    def is_light(self) -> bool:
        """True if it is of linear light, not of levels."""
        return self.kind in LIGHT.values()


@dataclass(eq=False)
class RenderTarget:
    """A picture on the graphics card; one with several samples per pixel is drawn beside it."""

    format: Format
    drawn: moderngl.Framebuffer
    read_from: moderngl.Framebuffer

    @classmethod
    def of(cls, context: moderngl.Context, form: Format) -> "RenderTarget":
        """A new one."""
        size = form.width, form.height
        channels, kind, _ = CHANNELS[form.kind]
        plain = [context.renderbuffer(size, channels, dtype=kind)]
        if form.samples == 1:
            both = context.framebuffer(plain, context.depth_renderbuffer(size))
            return cls(form, both, both)
        fine = [context.renderbuffer(size, channels, samples=form.samples, dtype=kind)]
        depth = context.depth_renderbuffer(size, samples=form.samples)
        return cls(form, context.framebuffer(fine, depth), context.framebuffer(plain))

    def begin(self) -> None:
        """Draw to it from now on; it is empty."""
        self.drawn.use()
        self.drawn.clear()

    def read(self, context: moderngl.Context) -> NDArray[Any]:
        """The pixels (height, width) or (height, width, channels), once they are drawn."""
        channels, kind, number = CHANNELS[self.format.kind]
        shape = (self.format.height, self.format.width, channels)
        image: NDArray[Any] = np.empty(shape, number)
        if self.drawn is not self.read_from:
            context.copy_framebuffer(self.read_from, self.drawn)
        self.read_from.read_into(image, components=channels, dtype=kind, alignment=1)
        return image[..., 0] if channels == 1 else image


@dataclass(eq=False)
class Targets:
    """Targets that are not in use."""

    context: moderngl.Context
    idle: dict[Format, list[RenderTarget]] = field(default_factory=lambda: defaultdict(list))

    def take(self, form: Format) -> RenderTarget:
        """One of this format."""
        there = self.idle[form]
        return there.pop() if there else RenderTarget.of(self.context, form)

    def give_back(self, target: RenderTarget) -> None:
        """It can be drawn to again."""
        self.idle[target.format].append(target)
