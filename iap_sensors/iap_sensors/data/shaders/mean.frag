// Two by two pixels as one.
uniform sampler2D image;
in vec2 place;
out vec4 pixel;
void main() {
    pixel = texture(image, place);
}
