// A level of the glare: a quarter of it its own, the rest of the coarser ones, so that halos are round.
uniform sampler2D image, finer;
uniform vec2 pixel_size;
in vec2 place;
out vec4 pixel;
void main() {
    vec4 o = vec4(pixel_size, -pixel_size);
    vec4 sum = texture(image, place + o.xy) + texture(image, place + o.xw);
    sum += texture(image, place + o.zy) + texture(image, place + o.zw);
    pixel = 0.25 * texture(finer, place) + 0.1875 * sum;
}
