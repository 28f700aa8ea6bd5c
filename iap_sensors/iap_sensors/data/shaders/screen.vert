uniform vec2 pixel_size;     // of the image that is looked up
out vec2 place;
flat out vec2 next_pixel;    // as far as that
void main() {
    next_pixel = pixel_size;
    place = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
    gl_Position = vec4(2.0 * place - 1.0, 0.0, 1.0);
}
