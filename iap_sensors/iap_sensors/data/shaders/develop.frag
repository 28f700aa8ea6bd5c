// Glare and vignetting of the lens, then the camera's curve from light to levels.
#ifdef MONO
#define LEVEL float
#define OF(image) (image).r
#else
#define LEVEL vec3
#define OF(image) (image).rgb
#endif
uniform sampler2D image, glare;
uniform vec4 lens;           // focal lengths, in pixels of the target, and where the axis meets it
uniform float vignetting;    // share lost, per squared tangent off the axis
in vec2 place;
out vec4 pixel;

LEVEL srgb(LEVEL c) {
    LEVEL bent = 1.055 * exp2(log2(max(c, LEVEL(1e-6))) / 2.4) - 0.055;
    return mix(12.92 * c, bent, step(LEVEL(0.0031308), c));
}

void main() {
    LEVEL c = OF(texelFetch(image, ivec2(gl_FragCoord.xy), 0));
#if CURVE >= 0
    c += GLARE_SHARE * (OF(texture(glare, place)) - c);
#endif
#ifdef VIGNETTING
    vec2 off = (gl_FragCoord.xy - lens.zw) / lens.xy;
    c *= 1.0 - vignetting * dot(off, off);
#endif
#if CURVE == 2
    c = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);  // Narkowicz' fit of ACES, 2016
#endif
#if CURVE >= 0
    c = clamp(c, LEVEL(0.0), LEVEL(1.0));
#endif
#if CURVE > 0
    c = srgb(c);
#endif
#ifdef MONO
    pixel = vec4(c);
#else
    pixel = vec4(c, 1.0);
#endif
}
