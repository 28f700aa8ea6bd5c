uniform sampler2D sky;
uniform vec3 sun, sunlight;
in vec3 ray;
out vec4 pixel;

const float DISC = 6.8e-5;              // solid angle of the sun [sr]
const vec2 RIM = vec2(0.9999855, 0.9999925);  // cosines around its radius, 0.265 deg

void main() {
    vec3 d = normalize(ray);
    vec3 seen = textureLod(sky, equirectangular(d), 0.0).rgb;
    seen += sunlight / DISC * smoothstep(RIM.x, RIM.y, dot(d, sun));
#ifdef FOG
    float up = max(d.z, 0.002);
    seen = mix(fog, seen, exp2(-fog_law.x * exp2(-fog_law.y * max(eye.z, 0.0)) / (fog_law.y * LN2 * LN2 * up)));
#endif
    pixel = exposed(seen, 1.0);
}
