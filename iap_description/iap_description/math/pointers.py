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


@intrinsic
def borrowed(typing, values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ARG001 - of numba's
    """Arrays, or tuples of such, whose owner outlives a call: the call counts no references to them.

    Compiled code counts a reference to every array of a tuple in each function that takes the tuple, with locked
    instructions. These were a third of the time of a world's step in MuJoCo.
    """

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return _without_owners(context, builder, signature.args[0], arguments[0])

    return values(values), generate


def _without_owners(context, builder, kind, value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    if isinstance(kind, types.BaseTuple):
        for k, each in enumerate(kind.types):
            member = builder.extract_value(value, k)
            inside = _without_owners(context, builder, each, member)
            value = builder.insert_value(value, inside, k)
    elif isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        value = array._getvalue()
    return value
