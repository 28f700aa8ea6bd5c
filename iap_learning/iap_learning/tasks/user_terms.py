# SPDX-License-Identifier: BSD-3-Clause
"""Terms of a user's own, ``module:function`` in a task's file: functions of one world, compiled by numba.

A function of an observation returns a tuple of numbers, a quantity of rewards and bounds one number:

    def ahead(world):
        return (world.goal[0] - world.x[0, 0],)

It is compiled when the task is made, and called in a compiled loop over worlds. Any other result, or code that numba
cannot compile, is refused then. A result that is not finite ends the world's episode, and is zero where it is seen.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import njit
from numba.core.errors import NumbaError
from numba.extending import is_jitted
from numpy.typing import NDArray
from pydantic import Field

from iap_description.arrays import Integers
from iap_description.config.plugins import load_named
from iap_description.errors import BadInput
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays, world_maker

UserFunctionName = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]  # ``module:function``


def is_user_function(name: str) -> bool:
    """True if a term's name is that of a user's function."""
    return ":" in name


def compiled_function(name: str, key: str) -> Callable[..., Any]:
    """The function of a name, which numba compiles with its first call.

    Raises:
        BadInput: its module cannot be imported, or has no such function.
    """
    function = load_named(name, key=key)
    if callable(function) and is_jitted(function):
        return function
    if not isinstance(function, FunctionType):  # such as a class, or one of a module in C
        raise BadInput(
            f"key '{key}': '{name}' is no function in Python, which numba could compile"
        )
    return njit(error_model="numpy")(function)


def trial(function: Callable[..., Any], inputs: Sequence[Any], name: str, key: str) -> Any:  # noqa: ANN401 - the user's
    """Result of a compiled function.

    Python calls it as well, since compiled code reads past the end of an array without an error. Roots and quotients
    that Python refuses are numbers that are not finite in compiled code.

    Raises:
        BadInput: numba cannot compile it, or it fails.
    """
    try:
        result = function(*inputs)
        with suppress(ArithmeticError, ValueError):
            function.py_func(*inputs)  # type: ignore[attr-defined]
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines[1:] if not line.startswith("File")), lines[0])
        raise BadInput(f"key '{key}': numba cannot compile '{name}': {reason}") from error
    except Exception as error:  # whatever a user's function raises belongs in one line
        raise BadInput(f"key '{key}': '{name}': {type(error).__name__}: {error}") from error
    return result


def numbers_of(result: object, name: str, key: str) -> int:
    """Count of numbers in a result that is a tuple of them.

    Raises:
        BadInput: it is anything else.
    """
    if not isinstance(result, tuple) or not result or not all(map(_is_float, result)):
        raise BadInput(
            f"key '{key}': '{name}' returns {result!r}; a tuple of floats is expected, such as (1.0, 0.5)"
        )
    return len(result)


def _is_float(value: object) -> bool:
    return type(value) is float  # as numba returns them


class UserTerm:
    """A user's function as a compiled loop over worlds.

    Args:
        name: ``module:function``.
        key: that names it, for errors.
        example: inputs of a trial call.
        is_tuple: whether it is to return a tuple of floats; else one float.

    Attributes:
        name: as given.
        size: numbers of its result.

    Raises:
        BadInput: there is no such function, numba cannot compile it, or it returns something else.
    """

    def __init__(self, name: str, key: str, example: TermInputs, *, is_tuple: bool) -> None:
        self.name, function = name, compiled_function(name, key)
        result = trial(function, (example,), name, key)
        if not is_tuple and not _is_float(result):
            raise BadInput(f"key '{key}': '{name}' returns {result!r}; one float is expected")
        self.size = numbers_of(result, name, key) if is_tuple else 1
        loop_of = _loop_of_tuples if is_tuple else _loop_of_numbers
        self._loop = loop_of(function, world_maker(example))

    def fill(
        self,
        which: Integers,
        inputs: WorldArrays,
        out: NDArray[Any],
        factor: float,
        bound: float,
        unsound: Integers,
    ) -> None:
        """Write the numbers of some worlds.

        Args:
            which: (n,) the worlds.
            inputs: of all worlds.
            out: (n, size) written.
            factor: that multiplies the numbers.
            bound: that they are clipped to then.
            unsound: (B,) set to 1 where a result is not finite.
        """
        self._loop(which, inputs, out, factor, bound, unsound)

    def is_sound(self, which: Integers, inputs: WorldArrays) -> bool:
        """True if all numbers of some worlds (n,) are finite."""
        unsound = np.zeros(len(inputs.x), np.int64)
        self._loop(which, inputs, np.zeros((len(which), self.size)), 1.0, math.inf, unsound)
        return not unsound.any()


def _loop_of_tuples(
    function: Callable[..., Any], world: Callable[[WorldArrays, int], Any]
) -> Callable[..., None]:
    """The loop of a function that returns a tuple."""

    @njit(nogil=True, error_model="numpy")
    def loop(
        which: Integers,
        inputs: WorldArrays,
        out: NDArray[Any],
        factor: float,
        bound: float,
        unsound: Integers,
    ) -> None:
        for i in range(len(which)):
            b = which[i]
            values = function(world(inputs, b))
            for k in range(len(values)):
                is_sound = math.isfinite(values[k])
                number = values[k] * factor if is_sound else 0.0
                out[i, k] = min(max(number, -bound), bound)
                if not is_sound:
                    unsound[b] = 1

    return loop


def _loop_of_numbers(
    function: Callable[..., Any], world: Callable[[WorldArrays, int], Any]
) -> Callable[..., None]:
    """The loop of a function that returns one number."""

    @njit(nogil=True, error_model="numpy")
    def as_tuple(one: TermInputs) -> tuple[float]:
        return (function(one),)

    return _loop_of_tuples(as_tuple, world)


class PlacedTerm(NamedTuple):
    """A term of the user's own in an observation.

    Attributes:
        term: as compiled.
        columns: where its numbers stand.
        factor: that multiplies them.
    """

    term: UserTerm
    columns: slice
    factor: float
