// A level of the glare: a quarter of it its own, the rest of the coarser ones by eight lookups in a ring, so that halos are
// round (Bjorge, "Bandwidth-Efficient Rendering", SIGGRAPH 2015).
uniform sampler2D image, finer;
flat in vec2 next_pixel;
in vec2 place;
out vec4 pixel;
void main() {
    vec4 o = vec4(0.5 * next_pixel, -0.5 * next_pixel);
    vec4 ring = texture(image, place + o.xy) + texture(image, place + o.xw);
    ring += texture(image, place + o.zy) + texture(image, place + o.zw);
    ring *= 2.0;
    ring += texture(image, place + vec2(next_pixel.x, 0.0)) + texture(image, place - vec2(next_pixel.x, 0.0));
    ring += texture(image, place + vec2(0.0, next_pixel.y)) + texture(image, place - vec2(0.0, next_pixel.y));
    pixel = 0.25 * texture(finer, place) + 0.0625 * ring;
}
