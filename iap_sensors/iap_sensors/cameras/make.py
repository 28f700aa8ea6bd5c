# SPDX-License-Identifier: BSD-3-Clause
"""Renderers by name."""

from typing import Literal, get_args

from iap_description.errors import BadInput
from iap_sensors.cameras.renderer import Renderer

RendererName = Literal["opengl", "pybullet"]


def make_renderer(name: str) -> Renderer:
    """A renderer that has nothing to draw yet; each is imported only where it is asked for.

    Raises:
        BadInput: no such renderer, or the machine cannot run it.
    """
    if name == "opengl":
        from iap_sensors.cameras.opengl import OpenGLRenderer

        return OpenGLRenderer()
    if name == "pybullet":
        from iap_sensors.cameras.pybullet_renderer import BulletRenderer

        return BulletRenderer()
    raise BadInput(f"no renderer '{name}' (choices: {', '.join(get_args(RendererName))})")
