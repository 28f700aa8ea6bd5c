# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of flights on estimates share."""

import pytest

from iap_description.errors import BadInput
from iap_sensors.cameras.opengl import OpenGLRenderer


@pytest.fixture(scope="session")
def can_draw():
    """Skips what needs cameras where this machine cannot draw."""
    try:
        OpenGLRenderer().close()
    except BadInput as error:
        pytest.skip(str(error))
