# SPDX-License-Identifier: BSD-3-Clause
"""A meadow without end under the sky: what is seen where no scene is asked for."""

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky


def build() -> Scene:
    """The ground only; there is nothing to touch but the world's own ground plane."""
    builder = Builder("open_field", seed=1)
    builder.ground("field", reach=120.0, patches=12)
    return builder.scene(
        light=Light(direction_W=(0.4, -0.3, 0.85), strength=0.75, ambient=0.4),
        sky=Sky(zenith=(0.33, 0.52, 0.82), horizon=(0.78, 0.85, 0.92)),
    )
