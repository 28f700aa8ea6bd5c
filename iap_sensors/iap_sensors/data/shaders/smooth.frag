// Edges of surfaces made smooth by FXAA (Lottes, "FXAA", NVIDIA white paper, 2009), its second version.
uniform sampler2D image;
uniform vec2 pixel_size;
in vec2 place;
out vec4 pixel;

#ifdef MONO
#define BRIGHTNESS(color) (color).r
#else
#define BRIGHTNESS(color) dot((color).rgb, vec3(0.299, 0.587, 0.114))
#endif

float level(ivec2 at) {
    ivec2 last = textureSize(image, 0) - 1;
    return BRIGHTNESS(texelFetch(image, clamp(at, ivec2(0), last), 0));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 middle = texelFetch(image, at, 0);
    float nw = level(at + ivec2(-1, -1)), ne = level(at + ivec2(1, -1));
    float sw = level(at + ivec2(-1, 1)), se = level(at + ivec2(1, 1)), m = BRIGHTNESS(middle);
    float low = min(m, min(min(nw, ne), min(sw, se))), high = max(m, max(max(nw, ne), max(sw, se)));
    pixel = middle;
    if (high - low >= max(0.04, 0.125 * high)) {
        vec2 way = vec2(-((nw + ne) - (sw + se)), (nw + sw) - (ne + se));
        float least = max((nw + ne + sw + se) * 0.03125, 0.0078125);
        way = clamp(way / (min(abs(way.x), abs(way.y)) + least), -8.0, 8.0) * pixel_size;
        vec4 inner = 0.5 * (texture(image, place - way / 6.0) + texture(image, place + way / 6.0));
        vec4 outer = 0.5 * inner + 0.25 * (texture(image, place - 0.5 * way) + texture(image, place + 0.5 * way));
        float l = BRIGHTNESS(outer);
        pixel = l < low || l > high ? inner : outer;
    }
}
