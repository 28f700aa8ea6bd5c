// A level of the glare: half of it its own, half of the coarser ones.
uniform sampler2D image, finer;
uniform vec2 pixel_size;
in vec2 place;
out vec4 pixel;
void main() {
    vec4 o = vec4(pixel_size, -pixel_size);
    vec4 sum = texture(image, place + o.xy) + texture(image, place + o.xw);
    sum += texture(image, place + o.zy) + texture(image, place + o.zw);
    pixel = 0.5 * texture(finer, place) + 0.125 * sum;
}
