# SPDX-License-Identifier: BSD-3-Clause
"""The programs that run on the graphics card, in GLSL 3.30; `#define` lines in front choose what they do.

Colours are worked with as textures hold them, so that a grey level is proportional to a texture's
and to the light.
"""

# Corners are in map; C is the optical frame of the camera, in which the first row of pixels comes first.
SURFACE_VERTEX = """
uniform mat4 clip_of_map;
uniform mat4 shade_of_map;
uniform mat4 body_shade_of_map;
uniform vec3 light;          // direction to it, times its strength
uniform float ambient;
uniform vec3 eye;
in vec3 position, normal;
in vec2 uv;
in vec4 color;
in float layer;
out vec3 texel, shade, body_shade, ray;
out vec4 tint;
out float direct, diffuse;
void main() {
    gl_Position = clip_of_map * vec4(position, 1.0);
    texel = vec3(uv, layer);
    tint = color;
    direct = max(dot(normal, light), 0.0);
    diffuse = ambient * (1.0 + 0.15 * normal.z);  // more from above than from below
    shade = 0.5 + 0.5 * (shade_of_map * vec4(position, 1.0)).xyz;
    body_shade = 0.5 + 0.5 * (body_shade_of_map * vec4(position, 1.0)).xyz;
    ray = position - eye;
}
"""

SURFACE_FRAGMENT = """
uniform sampler2DArray textures;
uniform sampler2DShadow shadows, body_shadows;
in vec3 texel, shade, body_shade, ray;
in vec4 tint;
in float direct, diffuse;
void main() {
    float lit = texture(shadows, shade);
#ifdef BODIES
    lit = min(lit, texture(body_shadows, body_shade));
#endif
    vec3 seen = texture(textures, texel).rgb * tint.rgb * (diffuse + direct * lit);
#ifdef FOG
    seen = mix(fog_color, seen, exp2(-fog_density * length(ray)));
#endif
    write(seen, tint.a);
}
"""

# What every fragment goes through: the lens' shading, and the sum of colours where one level is asked for.
SENSOR = """
uniform float gain;
uniform vec3 fog_color;
uniform float fog_density;   // of half the light, in 1/m
uniform vec4 lens;           // focal lengths, in pixels of the target, and where the axis meets it
uniform float vignetting;    // share lost, per squared tangent off the axis
out vec4 pixel;
void write(vec3 seen, float opacity) {
    vec3 level = gain * seen;
#ifdef VIGNETTING
    vec2 off = (gl_FragCoord.xy - lens.zw) / lens.xy;
    level *= 1.0 - vignetting * dot(off, off);
#endif
#ifdef MONO
    pixel = vec4(vec3(dot(level, vec3(0.299, 0.587, 0.114))), opacity);
#else
    pixel = vec4(level, opacity);
#endif
}
"""

# One triangle over the whole image, as far away as can be; fog lies FOG_HEIGHT m high.
SKY_VERTEX = """
uniform mat3 map_of_ray;
uniform vec4 edges;          // x/z of the left and right edge, y/z of the upper and lower one
out vec3 ray;
void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
    gl_Position = vec4(2.0 * corner - 1.0, 1.0, 1.0);
    ray = map_of_ray * vec3(mix(edges.x, edges.y, corner.x), mix(edges.z, edges.w, corner.y), 1.0);
}
"""

SKY_FRAGMENT = """
uniform vec3 zenith, horizon;
in vec3 ray;
void main() {
    float height = max(ray.z * inversesqrt(dot(ray, ray)), 0.0);
    vec3 seen = mix(horizon, zenith, sqrt(height));
#ifdef FOG
    seen = mix(fog_color, seen, exp2(-fog_density * FOG_HEIGHT / max(height, 0.01)));
#endif
    write(seen, 1.0);
}
"""

# Depth along the view and the label; zero where nothing is seen.
RANGE_VERTEX = """
uniform mat4 clip_of_map;
in vec3 position;
in float label;
flat out float what;
void main() {
    gl_Position = clip_of_map * vec4(position, 1.0);
    what = label;
}
"""

RANGE_FRAGMENT = """
flat in float what;
out vec2 pixel;
void main() {
    pixel = vec2(1.0 / gl_FragCoord.w, what);
}
"""

SHADOW_VERTEX = """
uniform mat4 shade_of_map;
in vec3 position;
void main() {
    gl_Position = shade_of_map * vec4(position, 1.0);
}
"""

SHADOW_FRAGMENT = """
void main() {
}
"""


def source(*pieces: str, defines: tuple[str, ...] = ()) -> str:
    """A shader of pieces, with its switches in front."""
    return "\n".join(["#version 330", *(f"#define {each}" for each in defines), *pieces])
