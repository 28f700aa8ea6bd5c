uniform mat4 clip_of_map, shade_of_map, body_shade_of_map;
in vec3 position, normal, tangent;
in vec2 uv;
in vec4 tint;
in float layer;
out vec3 at, out_, along, texel, shade, body_shade;
out vec4 reflectance;

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
}
