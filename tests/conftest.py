# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share; being here also lets them import the helpers beside this file."""

import os

for threads in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # as the command line does, before numpy
    os.environ.setdefault(threads, "1")
