# SPDX-License-Identifier: BSD-3-Clause
"""Pointers of addresses in compiled code, through which it reads the memory of native libraries."""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def pointer(typing, address):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ANN202 - of numba's
    """A pointer of an address."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return builder.inttoptr(values[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate
