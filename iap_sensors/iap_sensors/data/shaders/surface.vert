uniform mat4 clip_of_map, shade_of_map, body_shade_of_map;
in vec3 position, normal, tangent;
in vec2 uv;
in vec4 tint;
in float layer;
out vec3 at, out_, along, texel, shade, body_shade;
out vec4 reflectance;
#ifdef LAMPS
uniform float lamp_levels[LAMPS];  // share of its flux that each has
flat out float lamp_level[LAMPS];
#endif
#ifdef LAMP_BODIES
uniform mat4 lamp_bodies[LAMPS];   // from map to the clip space of a lamp's square, of bodies
out vec4 lamp_shade[LAMPS];
#endif

const float SKIN = 0.03;  // in front of a surface its shadow is looked up [m]

void main() {
    gl_Position = clip_of_map * vec4(position, 1.0);
    at = position;
    out_ = normal;
    along = tangent;
    texel = vec3(uv, layer);
    reflectance = tint;
    vec4 skin = vec4(position + SKIN * normal, 1.0);
    shade = 0.5 + 0.5 * (shade_of_map * skin).xyz;
    body_shade = 0.5 + 0.5 * (body_shade_of_map * skin).xyz;
    pass_camera();
#ifdef LAMPS
    lamp_level = lamp_levels;
#endif
#ifdef LAMP_BODIES
    for (int i = 0; i < LAMPS; i++) lamp_shade[i] = lamp_bodies[i] * vec4(position + 0.02 * normal, 1.0);
#endif
}
