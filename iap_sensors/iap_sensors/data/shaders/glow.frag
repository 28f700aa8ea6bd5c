in vec2 on_disc;
in vec3 color;
out vec4 pixel;
void main() {
    if (dot(on_disc, on_disc) > 1.0) discard;
    pixel = exposed(color, 1.0);
}
