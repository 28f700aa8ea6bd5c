// Point and spot lamps; each spot has one square of the atlas of shadows, each point lamp six.
uniform sampler2DShadow lamp_shadows;
uniform vec4 lamp_places[LAMPS];     // place [m], and squared radius [m^2]
uniform vec4 lamp_axes[LAMPS];       // axis of the cone, and the cosine at its edge; -2 shines everywhere
uniform vec4 lamp_colors[LAMPS];     // intensity, and the number of the first square
flat in float lamp_level[LAMPS];     // share of it that shines
uniform mat4 lamp_squares[SQUARES];  // from map to the atlas
#ifdef LAMP_BODIES
uniform sampler2DShadow lamp_body_shadows;
in vec4 lamp_shade[LAMPS];           // place in the clip space of a lamp's square, of bodies

float past_bodies(int i) {
    vec4 q = lamp_shade[i];
    vec3 s = q.xyz / q.w;
    if (q.w <= 0.0 || max(abs(s.x), abs(s.y)) >= 0.998) return 1.0;
    vec2 square = vec2(mod(float(i), LAMP_BODIES.x), floor(float(i) / LAMP_BODIES.x));
    return texture(lamp_body_shadows, vec3((square + 0.5 + 0.5 * s.xy) / LAMP_BODIES, 0.5 + 0.5 * s.z));
}
#endif

float square_of(vec3 d) {
    vec3 a = abs(d);
    if (a.x >= a.y && a.x >= a.z) return d.x > 0.0 ? 0.0 : 1.0;
    if (a.y >= a.z) return d.y > 0.0 ? 2.0 : 3.0;
    return d.z > 0.0 ? 4.0 : 5.0;
}

vec3 of_lamps(Matter m, vec3 at, vec3 n, vec3 V) {
    vec3 total = vec3(0.0);
    for (int i = 0; i < LAMPS; i++) {
        vec3 d = lamp_places[i].xyz - at;
        float square = dot(d, d);
        vec3 L = d * inversesqrt(square);
        float edge = lamp_axes[i].w;
        float cone = smoothstep(edge, edge + 0.15 * (1.0 - edge) + 1e-4, -dot(L, lamp_axes[i].xyz));
        bool everywhere = edge < -1.0;
        int first = int(lamp_colors[i].w) + (everywhere ? int(square_of(-d)) : 0);
        vec4 q = lamp_squares[first] * vec4(at + 0.02 * n, 1.0);
        float lit = texture(lamp_shadows, q.xyz / q.w) * (everywhere ? 1.0 : cone);
#ifdef LAMP_BODIES
        lit *= past_bodies(i);
#endif
        total += reflected(m, n, V, L) * lamp_colors[i].rgb * (lamp_level[i] * lit / (square + lamp_places[i].w));
    }
    return total;
}
