# SPDX-License-Identifier: BSD-3-Clause
"""From light to levels: glare of the lens, and the camera's curve."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

import moderngl
from numpy.typing import ArrayLike

from iap_sensors.cameras.framebuffers import RenderTarget
from iap_sensors.physical.programs import program, write
from iap_sensors.physical.tone import GLARE_LEVELS, GLARE_SHARE

CURVES = {"light": -1, "linear": 0, "srgb": 1, "filmic": 2}  # the first as it is, without glare


@dataclass(frozen=True)
class LightFormat:
    """Size [pixels] of an image of light, and whether it is of luminance alone, and stays light."""

    width: int
    height: int
    mono: bool
    is_light: bool = False


class LightTarget:
    """An image of light on the graphics card, with what it takes to develop it."""

    def __init__(self, context: moderngl.Context, form: LightFormat) -> None:
        self.form, size = form, (form.width, form.height)
        channels = 1 if form.mono else 4
        self.image, depth = (
            _texture(context, size, channels, "f2"),
            context.depth_renderbuffer(size),
        )
        self.frame = context.framebuffer([self.image], depth)
        sizes = [(max(size[0] >> k, 1), max(size[1] >> k, 1)) for k in range(2, GLARE_LEVELS + 2)]
        self.shrunk = [_texture(context, each, channels, "f2") for each in sizes]
        self.spread = [_texture(context, each, channels, "f2") for each in sizes[:-1]]
        self.shrunk_frames = [context.framebuffer([each]) for each in self.shrunk]
        self.spread_frames = [context.framebuffer([each]) for each in self.spread]
        self.levels = _texture(context, size, channels, "f4" if form.is_light else "f1")
        self.level_frame = context.framebuffer([self.levels])


def _texture(
    context: moderngl.Context, size: tuple[int, int], channels: int, kind: str
) -> moderngl.Texture:
    texture = context.texture(size, channels, dtype=kind)
    texture.repeat_x = texture.repeat_y = False
    texture.filter = moderngl.LINEAR, moderngl.LINEAR
    return texture


class Darkroom:
    """Develops images of light."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        # A function, not a method: in a cycle the programs would outlive this object on the graphics card.
        self._screen = cache(partial(_screen, context))

    def develop(
        self, light: LightTarget, target: RenderTarget, curve: str, values: Mapping[str, ArrayLike]
    ) -> None:
        """Write levels of an image of light to a target, which is as large, or half as large where it is finer.

        Args:
            light: the image.
            target: of levels.
            curve: of `CURVES`.
            values: lens and vignetting of ``develop.frag``.
        """
        self._context.disable(moderngl.DEPTH_TEST)
        if not light.form.is_light:
            self._spread_light(light)
        is_fine = light.form.width != target.format.width
        (light.level_frame if is_fine else target.drawn).use()
        light.image.use(0)
        light.spread[0].use(1)
        defines = [f"CURVE {CURVES[curve]}", f"GLARE_SHARE {GLARE_SHARE}"]
        defines += ["MONO"] if light.form.mono else []
        defines += ["VIGNETTING"] if values["vignetting"] else []
        self._draw("develop.frag", values, tuple(defines))
        if is_fine:
            target.drawn.use()
            light.levels.use(0)
            self._draw("mean.frag", {})
        self._context.enable(moderngl.DEPTH_TEST)

    def _spread_light(self, light: LightTarget) -> None:
        """Blur the image at all levels, and add them up from the coarsest one."""
        image = light.image
        for smaller, frame in zip(light.shrunk, light.shrunk_frames, strict=True):
            image.use(0)
            frame.use()
            self._draw("shrink.frag", _pixel_size(image))
            image = smaller
        for k in reversed(range(GLARE_LEVELS - 1)):
            image.use(0)
            light.shrunk[k].use(1)
            light.spread_frames[k].use()
            self._draw("spread.frag", _pixel_size(image))
            image = light.spread[k]

    def _draw(
        self, fragment: str, values: Mapping[str, ArrayLike], defines: tuple[str, ...] = ()
    ) -> None:
        made, triangle = self._screen(fragment, defines)
        write(made, values)
        triangle.render(vertices=3)


def _pixel_size(image: moderngl.Texture) -> Mapping[str, ArrayLike]:
    return {"pixel_size": (1.0 / image.width, 1.0 / image.height)}


def _screen(
    context: moderngl.Context, fragment: str, defines: tuple[str, ...]
) -> tuple[moderngl.Program, moderngl.VertexArray]:
    """A program over the whole image."""
    made = program(context, ("screen.vert",), (fragment,), defines)
    return made, context.vertex_array(made, [])
