# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of blocks, by the key `kind` of a policy's header."""

from typing import Annotated

from pydantic import Field

from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.policies.blocks.gru import Gru

AnyBlock = Annotated[Convolution | Gru, Field(discriminator="kind")]
