# SPDX-License-Identifier: BSD-3-Clause
r"""The image sensor, by the linear model of EMVA 1288 (Release 4.0 Linear, section 2): photons to digital numbers.

In the mean a pixel of area A absorbs, of light of wavelength lambda and irradiance E over the time t,

.. math:: \mu_e = \eta \mu_p, \qquad
    \mu_p = \frac{A E t \lambda}{h c} = 50.34\, A [\mu m^2]\, t [ms]\, \lambda [\mu m]\, E [\mu W / cm^2]

photons of which a share :math:`\eta` becomes electrons. Illuminances count as light of 555 nm, of which 683 lx are
1 W/m^2. To them come those of the dark current, :math:`\mu_d = \mu_I t`, which doubles every T_d kelvins (section 3).
Both are Poisson distributed, so their variance is their mean; it is drawn from a normal distribution together with that
of the read noise. With PRNU and DSNU, fixed for each pixel and drawn with the camera's seed (section 4),

.. math::
    y &= K (\min(e, e_{sat})) + y_{dark}, \qquad e \sim N(\mu, \mu + \sigma_r^2), \qquad
    \mu = \mu_e (1 + p_{uv}) + \mu_d + d_{uv} \\
    \sigma_y^2 &= K^2 (\sigma_d^2 + \mu_e) + \sigma_q^2, \qquad \sigma_q^2 = 1/12

rounded and clipped to 0..2^bits - 1. K is the gain by which a full well is the largest number at a gain of 0 dB.
"""

from typing import Annotated, NamedTuple, Self

import numpy as np
from numba import njit
from pydantic import Field, model_validator

from iap_description.arrays import Singles
from iap_description.config.values import BelowOne, NonNegative, Positive
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)
from iap_sensors.pixel_noise import AT_ONCE, draw, normal_table

WAVELENGTH = 0.555  # of the light that illuminances count as [um]
MICROWATTS = 100.0 / 683.0  # per square centimetre of 1 lx at that wavelength
PHOTONS = 50.34  # per um^2, ms, um and uW/cm^2: 1e-24 / (h c) in these units
QuantumEfficiency = Annotated[float, Field(strict=True, gt=0.0, le=1.0)]
Temperature = Annotated[float, Field(strict=True, ge=-100.0, le=150.0)]  # [deg C]


class ImageSensorSpec(EffectSpec):
    """An image sensor, as data sheets by EMVA 1288 have it.

    Attributes:
        pixel_size: along a side [um].
        quantum_efficiency: share of photons that become electrons.
        full_well: saturation capacity [e-].
        read_noise: temporal noise in the dark, without that of the dark current [e-].
        dark_current: at `dark_temperature` [e-/s].
        dark_temperature: [deg C].
        doubling: temperature over which the dark current doubles [K].
        temperature: of the image sensor [deg C].
        prnu: standard deviation of the pixels' response, over its mean.
        dsnu: standard deviation of their offsets [e-].
        bits: of the digital numbers.
        black_level: digital number of no light.
    """

    pixel_size: Positive
    quantum_efficiency: QuantumEfficiency = 0.6
    full_well: Positive
    read_noise: NonNegative = 0.0
    dark_current: NonNegative = 0.0
    dark_temperature: Temperature = 25.0
    doubling: Annotated[float, Field(strict=True, ge=1.0, le=1000.0)] = 8.0
    temperature: Temperature = 25.0
    prnu: BelowOne = 0.0
    dsnu: NonNegative = 0.0
    bits: Annotated[int, Field(strict=True, ge=1, le=16)] = 8
    black_level: NonNegative = 0.0

    @model_validator(mode="after")
    def _has_room_over_black(self) -> Self:
        if self.black_level >= self.largest:
            raise ValueError(
                f"key 'black_level': {self.black_level} is not below the largest number of"
                f" {self.bits} bits, {self.largest}"
            )
        return self

    @property
    def largest(self) -> int:
        """The largest digital number."""
        return int(2**self.bits - 1)

    @property
    def system_gain(self) -> float:
        """K at a gain of 0 dB [DN/e-]."""
        return (self.largest - self.black_level) / self.full_well

    def photons(self, irradiation: float) -> float:
        """Mean number of photons on a pixel for an irradiation [lx s]."""
        energy = MICROWATTS * irradiation * 1000.0  # [uW ms / cm^2]
        return PHOTONS * self.pixel_size**2 * WAVELENGTH * energy

    def dark_electrons(self, time: float) -> float:
        """Mean number of electrons of the dark current over a time [s]."""
        warmer = self.temperature - self.dark_temperature
        return self.dark_current * time * 2.0 ** (warmer / self.doubling)


class _Conversion(NamedTuple):
    """Numbers of an image: electrons of light 1 and in the dark, variance of the read noise, the well, K, levels."""

    electrons: float
    dark: float
    read_variance: float
    full_well: float
    gain: float
    black: float
    largest: float


@effect_of(ImageSensorSpec)
class ImageSensor(CameraEffect[ImageSensorSpec]):
    """Turns light to digital numbers; without an exposure, light 1 fills the well."""

    stage = EffectStage.SENSOR

    def __init__(self, spec: ImageSensorSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._response = np.ones(camera.width * camera.height * camera.channels, np.float32)
        self._offset = np.zeros_like(self._response)

    def reset(self, rng: np.random.Generator) -> None:
        """Draw how the pixels differ."""
        for fixed, mean, deviation in (
            (self._response, 1.0, self._spec.prnu),
            (self._offset, 0.0, self._spec.dsnu),
        ):
            rng.standard_normal(dtype=np.float32, out=fixed)
            fixed *= np.float32(deviation)
            fixed += np.float32(mean)

    def apply(self, image: CameraImage) -> None:
        """Count electrons."""
        spec, exposure = self._spec, image.exposure
        electrons = spec.full_well
        if image.irradiation is not None:
            electrons = spec.quantum_efficiency * spec.photons(image.irradiation)
        numbers = _Conversion(
            electrons,
            spec.dark_electrons(exposure.time),
            spec.read_noise**2,
            spec.full_well,
            spec.system_gain * exposure.gain,
            spec.black_level,
            float(spec.largest),
        )
        flat = image.light.reshape(-1)
        count = flat.size
        table = normal_table()
        _convert(
            flat, self._response[:count], self._offset[:count], numbers, image.drawn_key(), table
        )
        image.black = spec.black_level / spec.largest


@njit(cache=True)
def _convert(
    light: Singles,
    response: Singles,
    offset: Singles,
    numbers: _Conversion,
    key: np.uint64,
    table: Singles,
) -> None:
    """Write digital numbers over the largest one to the light (n,); draws are those of SplitMix64 from the key on."""
    electrons, dark = np.float32(numbers.electrons), np.float32(numbers.dark)
    variance, well = np.float32(numbers.read_variance), np.float32(numbers.full_well)
    gain, black = np.float32(numbers.gain), np.float32(numbers.black)
    largest = np.float32(numbers.largest)
    zero, half, unit = np.float32(0.0), np.float32(0.5), np.float32(1.0) / largest
    drawn = np.empty(AT_ONCE, np.float32)
    state = key
    for first in range(0, light.size, AT_ONCE):
        state = draw(state, table, drawn)
        some = light[first : first + AT_ONCE]
        gains, offsets = response[first : first + AT_ONCE], offset[first : first + AT_ONCE]
        for i in range(some.size):
            mean = some[i] * electrons * gains[i] + offsets[i] + dark
            e = mean + np.sqrt(max(mean, zero) + variance) * drawn[i]
            y = min(max(gain * min(e, well) + black, zero), largest)
            some[i] = np.float32(np.int32(y + half)) * unit
