# SPDX-License-Identifier: BSD-3-Clause
"""The one line with which input is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from iap_description.errors import BadInput


def refusal(call: Callable[..., object], *arguments: Any, **keys: Any) -> str:
    """The line of a call that refuses its arguments."""
    with pytest.raises(BadInput) as caught:
        call(*arguments, **keys)
    line = str(caught.value)
    assert len(line.splitlines()) == 1, line
    return line
