# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share; being here also lets them import the helpers beside this file."""

import os

import pytest

for threads in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # as the command line does, before numpy
    os.environ.setdefault(threads, "1")


@pytest.fixture(scope="session")
def opengl():
    """One OpenGL renderer for all tests; those that need it are skipped where there is no EGL."""
    from iap_description.errors import BadInput
    from iap_sensors.cameras.opengl import OpenGLRenderer

    try:
        renderer = OpenGLRenderer()
    except BadInput as error:
        pytest.skip(str(error))
    yield renderer
    renderer.close()
