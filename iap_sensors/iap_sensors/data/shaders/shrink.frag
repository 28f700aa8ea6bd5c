// A smaller image: each pixel is the mean of four by four, by four lookups between them.
uniform sampler2D image;
uniform vec2 pixel_size;
in vec2 place;
out vec4 pixel;
void main() {
    vec4 o = vec4(pixel_size, -pixel_size);
    vec4 sum = texture(image, place + o.xy) + texture(image, place + o.xw);
    pixel = 0.25 * (sum + texture(image, place + o.zy) + texture(image, place + o.zw));
}
