// Shared by all that is drawn in physical light. Directions are in map; z is up.
flat in vec3 eye;            // of the camera in map [m]
flat in float gain;          // from luminance to levels
uniform vec3 fog;            // luminance of thick fog
uniform vec2 fog_law;        // extinction at the ground [1/m], and one over the height over which it halves [1/m]

const vec3 LUMINANCE = vec3(0.2126, 0.7152, 0.0722);
const float LN2 = 0.69314718;
const float BRIGHTEST = 500.0;  // level that is kept of lights, so that glare stays small

// Azimuth and polar angle as texture coordinates; the polynomials are off by 1e-4 rad.
float angle_of(float y, float x) {
    float a = min(abs(x), abs(y)) / (max(abs(x), abs(y)) + 1e-9), s = a * a;
    float r = ((-0.0464964749 * s + 0.15931422) * s - 0.327622764) * s * a + a;
    r = abs(y) > abs(x) ? 1.57079637 - r : r;
    r = x < 0.0 ? 3.14159274 - r : r;
    return y < 0.0 ? -r : r;
}

float arcsine(float x) {
    float a = abs(x);
    float r = 1.5707288 + a * (-0.2121144 + a * (0.0742610 - 0.0187293 * a));
    r = 1.57079637 - sqrt(max(1.0 - a, 0.0)) * r;
    return x < 0.0 ? -r : r;
}

vec2 equirectangular(vec3 d) {
    return vec2(0.5 - angle_of(d.y, d.x) * 0.159154943, 0.5 - arcsine(clamp(d.z, -1.0, 1.0)) * 0.318309886);
}

// Share of light that fog lets through: extinction b 2^(-k z) integrated over a way that rises by `rise`.
float through_fog(float way, float rise) {
    float t = fog_law.y * rise;
    float mean = abs(t) > 1e-3 ? (1.0 - exp2(-t)) / (t * LN2) : 1.0 - 0.5 * LN2 * t;
    return exp2(-fog_law.x / LN2 * exp2(-fog_law.y * max(eye.z, 0.0)) * mean * way);
}

vec4 exposed(vec3 luminance, float opacity) {
    vec3 level = min(gain * luminance, BRIGHTEST);
#ifdef MONO
    return vec4(vec3(dot(level, LUMINANCE)), opacity);
#else
    return vec4(level, opacity);
#endif
}
