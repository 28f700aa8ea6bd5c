# SPDX-License-Identifier: BSD-3-Clause
"""Metal-rough matter for Mitsuba's vectorised variants, by the equations of ``data/shaders/surface.frag``.

It is imported in the child process alone, once a variant is set.
"""

from typing import Any, NamedTuple

import numpy as np

from iap_description.process.extras import missing
from iap_sensors.path_tracing.traced_scene import TracedGroup, TracedMatter

try:
    import drjit as dr
    import mitsuba as mi
except ImportError as error:
    raise missing("mitsuba", "path tracing needs", "pathtracer") from error

Wide = Any  # an array of Dr.Jit with an entry for each ray

PATCHES = 0.045  # of large-scale variation [1/m]
MATTE = 0.98  # roughness from which a surface mirrors nothing
LEAST_ALPHA = 0.0036
BRIGHTEST = 1000.0  # density of a lobe
DIFFUSE_SHARE = 0.5  # of the directions that are sampled by the cosine
SNOW = (0.82, 0.85, 0.90)


class ShadingPoint(NamedTuple):
    """A surface at a point, in its shading frame."""

    n: Wide
    base: Wide
    diffuse: Wide
    mirror: Wide
    fresnel: Wide
    alpha: Wide
    comeback: Wide
    NV: Wide
    rim: Wide


class MatterBsdf(mi.BSDF):
    """Opaque matter of one group of triangles; its back side is black."""

    def __init__(self, matter: TracedMatter, group: TracedGroup) -> None:
        mi.BSDF.__init__(self, mi.Properties())
        flags = mi.BSDFFlags.DiffuseReflection | mi.BSDFFlags.FrontSide
        glossy = mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide
        self.m_components = [flags, glossy]
        self.m_flags = flags | glossy
        self._side = matter.maps.shape[1]
        self._packed = mi.UInt32(np.ascontiguousarray(matter.maps).reshape(-1).view("<u4"))
        noise = matter.noise.astype(np.float32) / 255.0
        self._noise = mi.Texture2f(mi.TensorXf(noise[..., None]))
        self._varied = matter.varied
        self._layer = mi.UInt32(group.layers.astype(np.uint32))
        self._tint = mi.Float(np.ascontiguousarray(group.tints, np.float32).ravel())
        self._wetness, self._snow = mi.Float(matter.wetness), mi.Float(matter.snow)
        self._has_water = matter.wetness > 0.0 or matter.snow > 0.0
        dr.make_opaque(self._wetness, self._snow)

    def sample(
        self,
        ctx: Wide,
        si: Wide,
        sample1: Wide,
        sample2: Wide,
        active: Wide = True,
    ) -> tuple[Wide, Wide]:
        """A direction that is drawn, and the value there over its density."""
        return self._drawn(self._surface(si, active), si.wi, sample1, sample2, active)

    def eval_pdf_sample(
        self,
        ctx: Wide,
        si: Wide,
        wo: Wide,
        sample1: Wide,
        sample2: Wide,
        active: Wide = True,
    ) -> tuple[Wide, ...]:
        """Value and density of a direction, and another one that is drawn."""
        s = self._surface(si, active)
        drawn = self._drawn(s, si.wi, sample1, sample2, active)
        return (*self._value(s, si.wi, wo, active), *drawn)

    def eval(self, ctx: Wide, si: Wide, wo: Wide, active: Wide = True) -> Wide:
        """Reflected light of a direction."""
        return self._value(self._surface(si, active), si.wi, wo, active)[0]

    def pdf(self, ctx: Wide, si: Wide, wo: Wide, active: Wide = True) -> Wide:
        """Density of a direction."""
        return self._value(self._surface(si, active), si.wi, wo, active)[1]

    def eval_pdf(self, ctx: Wide, si: Wide, wo: Wide, active: Wide = True) -> tuple[Wide, Wide]:
        """Value and density of a direction."""
        return self._value(self._surface(si, active), si.wi, wo, active)

    def look(self, si: Wide, active: Wide) -> tuple[Wide, Wide]:
        """Albedo and normal in `map`, as the denoiser takes them."""
        s = self._surface(si, active)
        return s.base, si.to_world(s.n)

    def _drawn(
        self,
        s: ShadingPoint,
        V: Wide,
        sample1: Wide,
        sample2: Wide,
        active: Wide,
    ) -> tuple[Wide, Wide]:
        """A direction that is drawn, and the value there over its density."""
        frame = mi.Frame3f(s.n)
        by_cosine = frame.to_world(mi.warp.square_to_cosine_hemisphere(sample2))
        a2 = dr.square(s.alpha)
        cosine = dr.sqrt((1.0 - sample2.x) / (1.0 + (a2 - 1.0) * sample2.x))
        sine, turn = dr.safe_sqrt(1.0 - dr.square(cosine)), 2.0 * dr.pi * sample2.y
        h = frame.to_world(mi.Vector3f(sine * dr.cos(turn), sine * dr.sin(turn), cosine))
        mirrored = mi.reflect(V, h)
        wo = dr.select(sample1 < DIFFUSE_SHARE, by_cosine, mirrored)
        value, density = self._value(s, V, wo, active)
        good = active & (density > 1e-8)
        out = mi.BSDFSample3f()
        out.wo, out.pdf, out.eta = wo, dr.select(good, density, 0.0), 1.0
        out.sampled_type = mi.UInt32(+mi.BSDFFlags.GlossyReflection)
        out.sampled_component = mi.UInt32(1)
        return out, dr.select(good, value / density, 0.0)

    def _value(self, s: ShadingPoint, V: Wide, L: Wide, active: Wide) -> tuple[Wide, Wide]:
        """Reflected luminance per illuminance across the light, and the density of the sampled directions."""
        lit = active & (V.z > 0.0) & (L.z > s.rim)
        NL = dr.maximum(dr.dot(s.n, L), 0.0)
        h = dr.normalize(V + L)
        NH, VH = dr.maximum(dr.dot(s.n, h), 0.0), dr.maximum(dr.dot(V, h), 0.0)
        a2 = dr.square(s.alpha)
        D = a2 / (dr.pi * dr.square(dr.square(NH) * (a2 - 1.0) + 1.0))
        smith = 0.5 / (dr.lerp(2.0 * NL * s.NV, NL + s.NV, s.alpha) + 1e-4)
        f5 = (1.0 - VH) ** 5
        fresnel = s.mirror + (1.0 - s.mirror) * (f5 * s.fresnel)
        lobe = fresnel * dr.minimum(D * smith, BRIGHTEST) * (1.0 + s.mirror * s.comeback)
        value = NL * (s.diffuse / dr.pi + lobe)
        density = DIFFUSE_SHARE * NL / dr.pi + (1.0 - DIFFUSE_SHARE) * D * NH / (4.0 * VH + 1e-6)
        return dr.select(lit, value, 0.0), dr.select(lit, density, 0.0)

    def _surface(self, si: Wide, active: Wide) -> ShadingPoint:
        layer = dr.gather(mi.UInt32, self._layer, si.prim_index, active)
        tint = dr.gather(mi.Color3f, self._tint, si.prim_index, active)
        (a, b), n0 = self._texels(si.uv, layer, active), si.sh_frame.n
        slope = (mi.Vector2f(b.x, b.y) * 255.0 - 127.5) / 127.5
        slope = dr.select(dr.abs(slope) < 0.006, 0.0, slope)  # 127 and 128 both are flat
        n = mi.Normal3f(slope.x, slope.y, dr.sqrt(dr.maximum(1.0 - dr.squared_norm(slope), 0.05)))
        n = dr.normalize(n)
        base = mi.Color3f(dr.square(a.x), dr.square(a.y), dr.square(a.z)) * tint
        rough, metal, hollow = a.w, b.w, b.z
        patches = self._wave(PATCHES * si.p.xy + PATCHES * 1.3 * si.p.z)
        base *= dr.select((layer > 1) & (layer <= self._varied), 0.72 + 0.56 * patches, 1.0)
        if self._has_water:
            n, base, rough, metal = self._watered(si, n0, n, base, rough, metal, hollow)
        V = si.wi
        NV = dr.maximum(dr.dot(n, V), 1e-3)
        mirror = dr.lerp(mi.Color3f(dr.select(rough < MATTE, 0.04, 0.0)), base, metal)
        kx, ky = 1.0 - rough, 0.0425 - 0.0275 * rough
        kz, kw = 1.04 - 0.572 * rough, 0.022 * rough - 0.04
        split = dr.minimum(dr.square(kx), dr.exp2(-9.28 * NV)) * kx + ky
        first, second = -1.04 * split + kz, 1.04 * split + kw
        comeback = 1.0 / (first + second) - 1.0
        fresnel = dr.select(mirror.y > 0.001, 1.0, 0.0)
        share = (mirror * first + second * fresnel) * (1.0 + mirror * comeback)
        diffuse = base * (1.0 - metal) * (1.0 - share)
        alpha = dr.maximum(dr.square(rough), LEAST_ALPHA)
        # Hollows let light in from a cone about the normal, the squared sine of whose half angle is their occlusion.
        rim = dr.safe_sqrt(1.0 - hollow)
        return ShadingPoint(n, base, diffuse, mirror, fresnel, alpha, comeback, NV, rim)

    def _watered(
        self,
        si: Wide,
        n0: Wide,
        n: Wide,
        base: Wide,
        rough: Wide,
        metal: Wide,
        hollow: Wide,
    ) -> tuple[Wide, Wide, Wide, Wide]:
        """Normal, base colour, roughness and metalness of a surface that is wet, or below snow."""
        low = self._wave(0.07 * si.p.xy) + 0.3 * (1.0 - hollow)
        puddle = _smoothstep(0.55, 0.66, low) * _smoothstep(0.9, 0.99, n0.z)
        wet = self._wetness * (0.35 + 0.65 * dr.maximum(n0.z, 0.0))
        base = base * (1.0 - 0.45 * wet * (1.0 - metal))
        rough = dr.lerp(rough, dr.lerp(0.35, 0.06, puddle), wet)
        n = dr.normalize(dr.lerp(n, mi.Normal3f(0.0, 0.0, 1.0), puddle * self._wetness))
        noise = self._wave(0.11 * si.p.xy + 0.05 * si.p.z) - 0.5
        up = 0.6 * si.to_world(n).z + 0.4 * n0.z + 0.5 * noise
        snow = self._snow * _smoothstep(0.35, 0.75, up)
        base = dr.lerp(base, mi.Color3f(*SNOW), snow)
        return n, base, dr.lerp(rough, 0.75, snow), metal * (1.0 - snow)

    def _wave(self, uv: Wide) -> Wide:
        """Large-scale variation at texture coordinates."""
        return self._noise.eval(mi.Point2f(uv))[0]

    def _texels(self, uv: Wide, layer: Wide, active: Wide) -> tuple[Wide, Wide]:
        """The eight maps of a layer, between four texels."""
        side = self._side
        x, y = (each * side - 0.5 for each in (uv.x, uv.y))
        x0, y0 = dr.floor(x), dr.floor(y)
        fx, fy = x - x0, y - y0
        column, row = mi.Int32(x0), mi.Int32(y0)
        total = [mi.Vector4f(0.0), mi.Vector4f(0.0)]
        mask = side - 1
        for dj, wy in ((0, 1.0 - fy), (1, fy)):
            for di, wx in ((0, 1.0 - fx), (1, fx)):
                j, i = mi.UInt32((row + dj) & mask), mi.UInt32((column + di) & mask)
                at = (layer * side + j) * side + i
                words = dr.gather(mi.Vector2u, self._packed, at, active)
                for k, word in enumerate(words):
                    total[k] += wx * wy * _unpacked(word)
        return total[0] / 255.0, total[1] / 255.0


def _unpacked(word: Wide) -> Wide:
    """Four levels of a word, the lowest first."""
    return mi.Vector4f(*(mi.Float((word >> shift) & 255) for shift in (0, 8, 16, 24)))


def _smoothstep(low: float, high: float, x: Wide) -> Wide:
    t = dr.clip((x - low) / (high - low), 0.0, 1.0)
    return dr.square(t) * (3.0 - 2.0 * t)
