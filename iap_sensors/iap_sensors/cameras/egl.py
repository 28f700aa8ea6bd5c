# SPDX-License-Identifier: BSD-3-Clause
"""OpenGL without a window, through EGL: on a graphics card, or on the CPU with Mesa's llvmpipe."""

from typing import Any

import moderngl

from iap_description.errors import BadInput

PACKAGES = "libegl1 libgl1-mesa-dri"
LIBRARY = "libEGL.so.1"  # gives OpenGL's functions as well, so that no other library is needed
MOST = 16  # devices that are tried


def open_context() -> moderngl.Context:
    """An OpenGL 3.3 context on the first device that works; it is current in this thread.

    Raises:
        BadInput: there is no EGL, or no device that works.
    """
    faults: list[str] = []
    for index in range(MOST):
        try:
            return _open(index)
        except Exception as error:  # glcontext raises nothing more specific
            if faults and "device index" in str(error):
                break
            faults.append(str(error))
            if "not loaded" in faults[-1]:
                break
    raise BadInput(
        f"renderer 'opengl' needs EGL ({faults[0]}): install Debian's packages {PACKAGES},"
        " or ask for 'renderer: pybullet', which is slow"
    )


def _open(index: int) -> moderngl.Context:
    settings: Any = {"backend": "egl", "libgl": LIBRARY, "libegl": LIBRARY, "device_index": index}
    return moderngl.create_context(require=330, standalone=True, **settings)
