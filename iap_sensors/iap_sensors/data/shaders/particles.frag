uniform vec3 airlight;       // luminance of a drop or flake
in vec2 on_streak;
in float cover;
out vec4 pixel;
void main() {
    float share = 1.5 * max(1.0 - on_streak.x * on_streak.x, 0.0);  // 1 in the mean across it
    pixel = exposed(airlight, min(cover * share, 1.0));
}
