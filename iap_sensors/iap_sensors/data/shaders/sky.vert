uniform mat3 map_of_ray;
uniform vec4 edges;          // x/z of the left and right edge, y/z of the upper and lower one
out vec3 ray;

void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
    gl_Position = vec4(2.0 * corner - 1.0, 1.0, 1.0);
    ray = map_of_ray * vec3(mix(edges.x, edges.y, corner.x), mix(edges.z, edges.w, corner.y), 1.0);
    pass_camera();
}
