# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of either precision: compiled for single numbers, their constants are single, too.

A literal of Python is double, and one double makes all that it meets double.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.untyped_passes import IRProcessing

CONSTANTS = (ir.Const, ir.Global, ir.FreeVar)


@register_pass(mutates_CFG=False, analysis_only=False)
class SingleConstants(FunctionPass):
    """Make the constants of a function single whose numbers are all single."""

    _name = "single_constants"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401 - numba's own
        """Change the function of `state`, and return whether there was anything to change."""
        if {width for each in state.args for width in _widths(each)} != {32}:
            return False
        statements = [
            statement
            for block in state.func_ir.blocks.values()
            for statement in block.find_insts(ir.Assign)
            if isinstance(statement.value, CONSTANTS) and type(statement.value.value) is float
        ]
        for statement in statements:
            value = statement.value
            statement.value = ir.Const(np.float32(value.value), value.loc)
        return bool(statements)


class FormulaCompiler(CompilerBase):
    """numba's compiler with `SingleConstants` in front of its inference of types."""

    def define_pipelines(self) -> list[PassManager]:
        """The passes, in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(SingleConstants, IRProcessing)
        passes.finalize()
        return [passes]


def _widths(kind: types.Type) -> Iterator[int]:
    """Widths of the floating-point numbers in an argument."""
    if isinstance(kind, types.Float):
        yield kind.bitwidth
    elif isinstance(kind, types.Array):
        yield from _widths(kind.dtype)
    elif isinstance(kind, types.BaseTuple):
        for each in kind.types:
            yield from _widths(each)
