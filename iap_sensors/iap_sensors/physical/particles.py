# SPDX-License-Identifier: BSD-3-Clause
"""Rain and snow: drops and flakes around the camera, at sizes, numbers and speeds that are measured in nature.

Drops of a diameter D [mm] follow Marshall and Palmer (Journal of Meteorology 5, 1948), N(D) = 8000 exp(-4.1 R^-0.21 D)
per m^3 and mm at a rate R [mm/h]. They fall at 9.65 - 10.3 exp(-0.6 D) m/s (Atlas, Srivastava, Sekhon, Reviews of
Geophysics 11, 1973). Snow follows Gunn and Marshall (Journal of Meteorology 15, 1958), with D of the melted flake, as
3800 R^-0.87 exp(-2.55 R^-0.48 D). Smaller and farther ones are the haze of `visibility`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.scenes.lighting import Weather
from iap_sensors.cameras.drawn_geometry import ShotView
from iap_sensors.physical.programs import columns_of, program, write

REACH = 6.0  # side of the box around the camera in which each drop is drawn, at most [m]
LEAST_DROP, LEAST_FLAKE = 1.6, 0.9  # diameter from which it is drawn [mm]
FLAKE_GROWTH, FLAKE_SPEED = (
    3.5,
    1.2,
)  # diameter of a flake over its melted one, and how fast it falls [m/s]
MAX_PARTICLES = 16000  # that are drawn; more make the box smaller
SEED = 11
DEFAULT_EXPOSURE = 0.01  # of a camera without `blur` [s]


@dataclass(frozen=True, eq=False)
class Fallers:
    """Drops and flakes in a box: diameters (n,) [m], speeds of fall (n,) [m/s], and the box's side [m]."""

    diameters: Array
    speeds: Array
    box: float

    @classmethod
    def of(cls, weather: Weather) -> Self:
        """Particles that fall in a weather."""
        rain, snow = weather.rain, weather.snowfall
        drops = (8000.0, 4.1 * rain**-0.21) if rain > 0.0 else (0.0, 1.0)
        flakes = (3800.0 * snow**-0.87, 2.55 * snow**-0.48) if snow > 0.0 else (0.0, 1.0)
        kinds = ((*drops, LEAST_DROP), (*flakes, LEAST_FLAKE))
        per_m3 = [n / slope * float(np.exp(-slope * least)) for n, slope, least in kinds]
        box = min(REACH, (MAX_PARTICLES / max(sum(per_m3), 1e-9)) ** (1.0 / 3.0))
        rng = np.random.default_rng(SEED)
        d, f = (
            least + rng.exponential(1.0 / slope, round(count * box**3))
            for (_, slope, least), count in zip(kinds, per_m3, strict=True)
        )
        fall = 9.65 - 10.3 * np.exp(-0.6 * d), FLAKE_SPEED * rng.uniform(0.7, 1.3, len(f))
        return cls(1e-3 * np.append(d, FLAKE_GROWTH * f), np.concatenate(fall), box)


class Particles:
    """Drops and flakes on the graphics card.

    Args:
        context: to draw with.
        weather: in which they fall.
        airlight: (3,) their luminance [kcd/m^2].
    """

    def __init__(self, context: moderngl.Context, weather: Weather, airlight: Array) -> None:
        self._context, self._airlight = context, airlight
        falling = Fallers.of(weather)
        self._count, self._box = len(falling.diameters), falling.box
        positions = np.random.default_rng(SEED + 1).random((self._count, 3))
        rows = np.column_stack([positions, falling.diameters, falling.speeds]).astype(np.float32)
        self._buffer = context.buffer(rows.tobytes() or bytes(20))
        self._programs: dict[bool, tuple[moderngl.Program, moderngl.VertexArray]] = {}

    def draw(
        self,
        values: Mapping[str, ArrayLike],
        viewpoint: ShotView,
        size: tuple[int, int],
        *,
        mono: bool,
    ) -> None:
        """Draw what falls before what is drawn already; blending is on.

        Args:
            values: of the variables that all programs share.
            viewpoint: of the camera.
            size: of the image of light [pixels].
            mono: whether it is of luminance alone.
        """
        if self._count == 0:
            return
        if mono not in self._programs:
            self._programs[mono] = self._made(mono=mono)
        made, vertices = self._programs[mono]
        shot, view = viewpoint.shot, viewpoint.view
        blur = shot.spec.blur
        further: dict[str, ArrayLike] = {
            "airlight": self._airlight,
            "eye_velocity": shot.v_WC_W,
            "half_size": (0.5 * size[0], 0.5 * size[1]),
            "time": shot.t,
            "exposure": DEFAULT_EXPOSURE if blur is None else blur.exposure_time,
            "focal": view.K[0, 0] * size[0] / view.width,
            "box": self._box,
        }
        write(made, {**values, **further})
        vertices.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=self._count)

    def _made(self, *, mono: bool) -> tuple[moderngl.Program, moderngl.VertexArray]:
        pieces = ("common.glsl", "particles.frag")
        made = program(
            self._context, ("camera.glsl", "particles.vert"), pieces, ["MONO"] if mono else []
        )
        layout = columns_of(made, self._buffer, "3f 2f", "seed", "kind")
        return made, self._context.vertex_array(made, [(layout[0], f"{layout[1]}/i", *layout[2:])])
