// A smaller image: each pixel is the mean of four by four, by four lookups between them.
uniform sampler2D image;
flat in vec2 next_pixel;
in vec2 place;
out vec4 pixel;
void main() {
    vec4 o = vec4(next_pixel, -next_pixel);
    vec4 sum = texture(image, place + o.xy) + texture(image, place + o.xw);
    pixel = 0.25 * (sum + texture(image, place + o.zy) + texture(image, place + o.zw));
}
