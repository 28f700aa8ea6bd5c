# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of blocks that learn, by the key `kind` of their records."""

from iap_learning.training.blocks.block import LearningBlock
from iap_learning.training.blocks.convolution import CONVOLUTION
from iap_learning.training.blocks.gru import GRU

BLOCKS: dict[str, LearningBlock] = {"convolution": CONVOLUTION, "gru": GRU}
