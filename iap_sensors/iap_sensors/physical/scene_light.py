# SPDX-License-Identifier: BSD-3-Clause
"""What an environment's light needs on the graphics card: the sky, shadows, shares of light, and what falls."""

from collections.abc import Mapping
from functools import cached_property

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_sensors.cameras.drawn_geometry import DrawnGeometry
from iap_sensors.cameras.shadows import BODY_MAP_SIZE, SCENE_MAP_SIZE, ShadowMap
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.material_maps import MaterialMaps
from iap_sensors.physical.particles import Particles
from iap_sensors.physical.programs import UNITS
from iap_sensors.physical.scene_textures import OpennessTexture, SkyTextures


class SceneLight:
    """Sun and sky of an environment on what stands still and on bodies.

    Args:
        context: to draw with.
        drawn: the scene and bodies.
        maps: materials of both.
        environment: with the light.

    Attributes:
        environment: as above.
        particles: that fall.
        has_openness: whether things shade the sky.
    """

    def __init__(
        self,
        context: moderngl.Context,
        drawn: DrawnGeometry,
        maps: MaterialMaps,
        environment: Environment,
    ) -> None:
        self.environment = environment
        self._sky = SkyTextures(context, environment)
        self._sun_is_up = environment.sun_W[2] > 0.0 and bool(environment.sun.any())
        self._scene_shadows, self._body_shadows = (
            ShadowMap.of(
                context,
                drawn.corner_buffer,
                drawn.geometry,
                which,
                size=size,
                is_lit=self._sun_is_up,
            )
            for which, size in ((drawn.standing, SCENE_MAP_SIZE), (drawn.casters, BODY_MAP_SIZE))
        )
        self._scene_shadows.draw(drawn.spheres[drawn.standing], environment.sun_W.tolist())
        self.particles = Particles(context, environment.weather, environment.daylight / np.pi)
        self._openness = OpennessTexture.of(context, drawn, maps, environment)
        self.has_openness = self._openness is not None

    @property
    def has_body_shadows(self) -> bool:
        """Whether bodies cast shadows of the sun."""
        return self._body_shadows.has_faces and self._sun_is_up

    def place(self, drawn: DrawnGeometry) -> None:
        """Draw the shadows of bodies where they are now."""
        if self._sun_is_up:
            casters = drawn.spheres[drawn.casters]
            self._body_shadows.draw(casters, self.environment.sun_W.tolist())

    def use(self) -> None:
        """Take the textures for what is drawn next."""
        self._scene_shadows.texture.use(UNITS["shadows"])
        self._body_shadows.texture.use(UNITS["body_shadows"])
        self._sky.mirrored.use(UNITS["mirrored"])
        self._sky.sky.use(UNITS["sky"])
        if self._openness is not None:
            self._openness.texture.use(UNITS["openness"])

    @property
    def values(self) -> Mapping[str, ArrayLike]:
        """Values of the programs' variables that change with the bodies."""
        return {"body_shade_of_map": self._body_shadows.shade_of_map}

    @cached_property
    def constants(self) -> Mapping[str, ArrayLike]:
        """Values of the programs' variables that stay as they are."""
        environment = self.environment
        openness = {} if self._openness is None else self._openness.values
        return {
            **openness,
            "shade_of_map": self._scene_shadows.shade_of_map,
            "shadow_step": 0.75 / SCENE_MAP_SIZE,
            "sun": environment.sun_W,
            "sunlight": environment.sun,
            "harmonics": self._sky.harmonics,
            "fog": environment.fog,
            "fog_law": (environment.fog_density, 1.0 / environment.fog_height),
            "water": (environment.wetness, environment.weather.snow_cover),
        }
