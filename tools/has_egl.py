# SPDX-License-Identifier: BSD-3-Clause
"""Test for OpenGL without a window, through EGL; for set-up, before there is any package to ask.

Ends with status 0 where a device of EGL's can be initialised, a graphics card or Mesa's llvmpipe,
and with a message and status 1 where none can.
"""

import ctypes
import sys

LIBRARY = "libEGL.so.1"
PLATFORM_DEVICE = 0x313F  # EGL_PLATFORM_DEVICE_EXT
MOST = 16  # devices that are asked


def has_device() -> bool:
    """True if one of EGL's devices can be initialised; OSError without the library."""
    egl = ctypes.CDLL(LIBRARY)
    pointer, number = ctypes.c_void_p, ctypes.c_int
    egl.eglGetProcAddress.restype = pointer
    found = {
        name: egl.eglGetProcAddress(name)
        for name in (b"eglQueryDevicesEXT", b"eglGetPlatformDisplayEXT")
    }
    if not all(found.values()):
        return False
    query = ctypes.CFUNCTYPE(number, number, pointer, pointer)(found[b"eglQueryDevicesEXT"])
    display_of = ctypes.CFUNCTYPE(pointer, number, pointer, pointer)(
        found[b"eglGetPlatformDisplayEXT"]
    )
    devices, count = (pointer * MOST)(), number()
    if not query(MOST, ctypes.addressof(devices), ctypes.addressof(count)):
        return False
    egl.eglInitialize.argtypes = [pointer, pointer, pointer]
    displays = [display_of(PLATFORM_DEVICE, device, None) for device in devices[: count.value]]
    return any(display and egl.eglInitialize(display, None, None) for display in displays)


if __name__ == "__main__":
    try:
        if has_device():
            sys.exit(0)
    except OSError as error:
        sys.exit(f"no EGL: {error}")
    sys.exit("no EGL: none of its devices can be used")
