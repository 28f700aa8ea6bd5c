// What fragments need to know of the camera: llvmpipe reads a variable of the program once for each pixel, but what is flat
// once for each triangle.
uniform vec3 place_of_eye;   // in map [m]
uniform float gain_of_image; // from luminance to levels
flat out vec3 eye;
flat out float gain;

void pass_camera() {
    eye = place_of_eye;
    gain = gain_of_image;
}
