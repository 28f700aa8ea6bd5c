# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of sensors in flight share."""

import pytest

from iap_description.errors import BadInput
from iap_sensors.cameras.opengl import OpenGLRenderer


@pytest.fixture(scope="session")
def opengl():
    try:
        renderer = OpenGLRenderer()
    except BadInput as error:
        pytest.skip(str(error))
    yield renderer
    renderer.close()
