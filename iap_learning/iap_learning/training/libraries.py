# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that train: an extra.

JAX computes on one thread of the CPU: sums are then taken in one order however many cores there are, which makes
training the same everywhere and a checkpoint go on bit for bit, and networks of this size gain nothing by more.
"""

import os

from iap_description.process.extras import missing
from iap_description.process.interrupts import Deferral

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}".strip()
os.environ.setdefault("JAX_PLATFORMS", "cpu")

try:
    with Deferral():  # an exception within the start of JAX's compiled modules ends the process
        import jax as jax
        import jax.numpy as jnp
        import optax as optax
        from tensorboardX import SummaryWriter
except ModuleNotFoundError as error:
    raise missing(error.name, "training needs", "training") from error

__all__ = ["SummaryWriter", "jax", "jnp", "optax"]
