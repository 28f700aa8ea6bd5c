// Metal-rough matter under sun, sky and lamps. GGX with the height-correlated Smith term (Heitz, JCGT 3(2), 2014) as Hammon
// (GDC 2017) approximates it, Schlick's Fresnel term; the sky's part by Karis' split sum (SIGGRAPH 2013) in his fit of
// 2014. Energy of further bounces within the surface: Fdez-Aguera, JCGT 8(1), 2019.
uniform sampler2DArray albedo_roughness, relief;
uniform sampler2DShadow shadows, body_shadows;
uniform sampler2D mirrored, noise;
uniform vec3 sun, sunlight, harmonics[9];
uniform float shadow_step, varied;  // and the end of the layers that vary on a large scale
#ifdef OPENNESS
uniform sampler3D openness;   // r_0 and r of the light r_0 + r . n on a plane
uniform vec4 open_lower;      // corner of their grid [m], and half a cell [m]
uniform vec4 open_free;       // e_0 and e of the same without what stands around
uniform vec3 open_scale;      // one over the grid's sides [1/m]
#endif
#ifdef GLOW
uniform sampler2DArray glow;  // luminance of what emits light
#endif
uniform vec2 water;          // wetness of surfaces, and snow on them
in vec3 at, out_, along, texel, shade, body_shade;
in vec4 reflectance;
out vec4 pixel;

const float SHARPER = -0.6;      // of the level of detail of textures
const float PATCHES = 0.045;     // of large-scale variation [1/m]
const float MATTE = 0.98;        // roughness from which a surface mirrors nothing
const float ROUGHEST = 5.0;      // level of the mirrored sky at roughness 1
const float PI_INVERSE = 0.318309886;

struct Matter { vec3 diffuse, mirror; float alpha2, alpha, NV, comeback; };

vec3 even_light(vec3 n) {
    vec3 e = harmonics[0] + harmonics[1] * n.y + harmonics[2] * n.z + harmonics[3] * n.x;
    e += harmonics[4] * (n.x * n.y) + harmonics[5] * (n.y * n.z) + harmonics[6] * (3.0 * n.z * n.z - 1.0);
    return max(e + harmonics[7] * (n.x * n.z) + harmonics[8] * (n.x * n.x - n.y * n.y), 0.0);
}

// Luminance per illuminance across the light's rays.
vec3 reflected(Matter m, vec3 n, vec3 V, vec3 L) {
    float NL = max(dot(n, L), 0.0);
    vec3 h = normalize(V + L);
    float NH = max(dot(n, h), 0.0), VH = max(dot(V, h), 0.0);
    float d = NH * NH * (m.alpha2 - 1.0) + 1.0;
    float lobe = m.alpha2 * PI_INVERSE / (d * d) * 0.5 / (mix(2.0 * NL * m.NV, NL + m.NV, m.alpha) + 1e-4);
    float f = 1.0 - VH, f5 = f * f * f * f * f;
    vec3 fresnel = m.mirror + (1.0 - m.mirror) * f5 * step(0.001, m.mirror.g);
    return NL * (m.diffuse * PI_INVERSE + fresnel * min(lobe, 1000.0) * (1.0 + m.mirror * m.comeback));
}

#ifdef LAMPS
vec3 of_lamps(Matter m, vec3 at, vec3 n, vec3 V);
#endif

float sun_share() {
    vec2 o = vec2(shadow_step, -shadow_step);
    float s = texture(shadows, shade + vec3(o.xx, 0.0)) + texture(shadows, shade + vec3(o.xy, 0.0));
    s = 0.25 * (s + texture(shadows, shade + vec3(o.yx, 0.0)) + texture(shadows, shade + vec3(o.yy, 0.0)));
#ifdef BODIES
    s = min(s, texture(body_shadows, body_shade));
#endif
    return s;
}

void main() {
    vec4 a = texture(albedo_roughness, texel, SHARPER), b = texture(relief, texel, SHARPER);
    vec3 n0 = normalize(out_), t = normalize(along - n0 * dot(n0, along)), up = cross(n0, t);
    vec2 slope = (b.xy * 255.0 - 127.5) / 127.5;
    slope *= step(0.006, abs(slope));  // 127 and 128 both are flat
    vec3 n = normalize(t * slope.x + up * slope.y + n0 * sqrt(max(1.0 - dot(slope, slope), 0.05)));
    vec3 base = a.rgb * a.rgb * reflectance.rgb;
    float rough = a.a, metal = b.w;
    float patches = texture(noise, PATCHES * at.xy + PATCHES * 1.3 * at.z).r;
    base *= mix(1.0, 0.72 + 0.56 * patches, step(1.5, texel.z) * step(texel.z, varied));
#ifdef WATER
    float puddle = smoothstep(0.55, 0.66, texture(noise, 0.07 * at.xy).r + 0.3 * (1.0 - b.z)) * smoothstep(0.9, 0.99, n0.z);
    float wet = water.x * (0.35 + 0.65 * max(n0.z, 0.0));
    base *= 1.0 - 0.45 * wet * (1.0 - metal);
    rough = mix(rough, mix(0.35, 0.06, puddle), wet);
    n = normalize(mix(n, n0, puddle * water.x));
    float snow = water.y * smoothstep(0.35, 0.75, 0.6 * n.z + 0.4 * n0.z + 0.5 * (texture(noise, 0.11 * at.xy + 0.05 * at.z).r - 0.5));
    base = mix(base, vec3(0.82, 0.85, 0.90), snow);
    rough = mix(rough, 0.75, snow);
    metal *= 1.0 - snow;
#endif
    vec3 to_eye = eye - at;
    float far = length(to_eye);
    vec3 V = to_eye / far;
    Matter m;
    m.NV = max(dot(n, V), 1e-3);
    m.mirror = mix(vec3(0.04 * step(rough, MATTE)), base, metal);
    vec4 k = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    vec2 split = vec2(-1.04, 1.04) * (min(k.x * k.x, exp2(-9.28 * m.NV)) * k.x + k.y) + k.zw;
    m.comeback = 1.0 / (split.x + split.y) - 1.0;
    vec3 share = (m.mirror * split.x + split.y * step(0.001, m.mirror.g)) * (1.0 + m.mirror * m.comeback);
    m.diffuse = base * (1.0 - metal) * (1.0 - share);
    m.alpha = rough * rough;
    m.alpha2 = m.alpha * m.alpha;
    vec3 seen = reflected(m, n, V, sun) * sunlight * sun_share();
#ifdef LAMPS
    seen += of_lamps(m, at, n, V);
#endif
    vec3 r = reflect(-V, n);
    float open = b.z;
#ifdef OPENNESS
    vec4 o = texture(openness, (at + open_lower.w * n0 - open_lower.xyz) * open_scale);
    open *= clamp((o.x + dot(o.yzw, n)) / max(open_free.x + dot(open_free.yzw, n), 1e-6), 0.0, 4.0);
#endif
    seen += open * (m.diffuse * even_light(n) + share * textureLod(mirrored, equirectangular(r), ROUGHEST * rough).rgb);
#ifdef GLOW
    seen += texture(glow, texel, SHARPER).rgb;
#endif
#ifdef FOG
    seen = mix(fog, seen, through_fog(far, at.z - eye.z));
#endif
    pixel = exposed(seen, reflectance.a);
}
