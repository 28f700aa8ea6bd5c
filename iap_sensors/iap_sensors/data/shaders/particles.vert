// Drops and flakes in a box around the camera. They are at rest in the falling air, so that the camera moves through them;
// who leaves the box on one side enters it on the other. Each is drawn from where it is when the exposure begins to its end.
uniform mat4 clip_of_map;
uniform vec3 eye_velocity;
uniform vec2 half_size;      // of the image [pixels]
uniform float time, exposure, focal, box;
in vec3 seed;                // place in the box, of 1
in vec2 kind;                // diameter [m], and speed of fall [m/s]
out vec2 on_streak;
out float cover;

const float LEAST = 0.7;     // half the width of what is drawn [pixels]

void main() {
    pass_camera();
    vec3 v = vec3(0.0, 0.0, -kind.y);
    vec3 p = eye + mod(seed.xyz * box + v * time - eye, box) - 0.5 * box;
    vec4 c0 = clip_of_map * vec4(p, 1.0), c1 = clip_of_map * vec4(p + (v - eye_velocity) * exposure, 1.0);
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    vec2 way = (c1.xy / max(c1.w, 0.05) - c0.xy / max(c0.w, 0.05)) * half_size;
    float streak = length(way);
    vec2 along = streak > 1e-3 ? way / streak : vec2(0.0, 1.0), across = vec2(-along.y, along.x);
    float radius = 0.5 * kind.x * focal / max(c0.w, 0.1), drawn = max(radius, LEAST);
    vec4 c = mix(c0, c1, corner.y);
    c.xy += (across * (2.0 * corner.x - 1.0) + along * (2.0 * corner.y - 1.0)) * drawn / half_size * c.w;
    gl_Position = min(c0.w, c1.w) < 0.25 ? vec4(2.0, 2.0, 2.0, 1.0) : c;
    on_streak = 2.0 * corner - 1.0;
    // share of the exposure that it covers a pixel of its streak, and share of the pixel
    cover = min(2.0 * radius / (streak + 2.0 * radius), 1.0) * min(radius / LEAST, 1.0);
}
