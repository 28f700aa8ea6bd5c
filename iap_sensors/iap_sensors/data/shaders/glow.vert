// Bodies of lamps as discs that face the camera; one instance for each.
uniform mat4 clip_of_map, map_of_camera;
uniform float lamp_levels[LAMPS];
in vec4 place_radius;
in vec3 luminance;
out vec2 on_disc;
out vec3 color;
void main() {
    on_disc = 2.0 * vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) - 1.0;
    vec3 off = (map_of_camera * vec4(on_disc * place_radius.w, 0.0, 0.0)).xyz;
    gl_Position = clip_of_map * vec4(place_radius.xyz + off, 1.0);
    pass_camera();
    color = luminance * lamp_levels[gl_InstanceID];
}
