# SPDX-License-Identifier: BSD-3-Clause
"""Renderers by name: built-in ones, or a class of the user's own."""

from importlib.util import find_spec
from typing import Annotated

from iap_description.config.plugins import load_class, name_of
from iap_description.process.extras import missing
from iap_sensors.cameras.renderer import Renderer

RENDERERS = {  # imported only where they draw
    "mitsuba": "iap_sensors.path_tracing.mitsuba_renderer:MitsubaRenderer",
    "opengl": "iap_sensors.cameras.opengl:OpenGLRenderer",
    "physical": "iap_sensors.physical.physical_renderer:PhysicalRenderer",
    "pybullet": "iap_sensors.cameras.pybullet_renderer:BulletRenderer",
}
LIBRARIES = {  # what they draw with, and the extra that brings it
    "mitsuba": ("mitsuba", "pathtracer"),
    "opengl": ("moderngl", "cameras"),
    "physical": ("moderngl", "cameras"),
    "pybullet": ("pybullet", "pybullet"),
}
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
    library, extra = LIBRARIES.get(name, (None, ""))
    if library is not None and find_spec(library) is None:
        raise missing(library, f"renderer '{name}' needs", extra)
    renderer: Renderer = load_class(name, METHODS, key="renderer", built_in=RENDERERS)()
    return renderer
