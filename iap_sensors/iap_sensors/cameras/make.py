# SPDX-License-Identifier: BSD-3-Clause
"""Renderers by name: built-in ones, or a class of the user's own."""

from importlib.util import find_spec
from typing import Annotated

from iap_description.config.plugins import load_class, name_of
from iap_description.errors import BadInput
from iap_sensors.cameras.renderer import Renderer

RENDERERS = {  # imported only where they draw
    "opengl": "iap_sensors.cameras.opengl:OpenGLRenderer",
    "pybullet": "iap_sensors.cameras.pybullet_renderer:BulletRenderer",
}
LIBRARIES = {"opengl": "moderngl", "pybullet": "pybullet"}  # that they draw with, for pip
METHODS = ("load", "render", "close")


RendererName = Annotated[str, name_of(RENDERERS)]


def make_renderer(name: str) -> Renderer:
    """A renderer that has nothing to draw yet.

    Args:
        name: one of `RENDERERS`, or ``module:Class`` of a class with all methods of `Renderer`, made without
            arguments.

    Raises:
        BadInput: no such renderer, it lacks a method, or the machine cannot run it.
    """
    library = LIBRARIES.get(name)
    if library is not None and find_spec(library) is None:
        raise BadInput(f"renderer '{name}' needs what is not installed: pip install {library}")
    renderer: Renderer = load_class(name, METHODS, key="renderer", built_in=RENDERERS)()
    return renderer
