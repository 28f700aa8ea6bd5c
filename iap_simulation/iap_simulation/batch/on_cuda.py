# SPDX-License-Identifier: BSD-3-Clause
"""Many worlds on an NVIDIA GPU: the loops of the blocks, one thread for each lane. numba-cuda is an extra.

This is the only module that imports numba's CUDA target. Its simulator (``NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1``)
needs no GPU and no extra.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numba import config, cuda

from iap_control.batch.records import COLLINEAR, FULL, RIGID, VECTORED
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.lanes import LANES
from iap_description.process.extras import missing
from iap_description.process.kernel_stamps import BesideSource, ChosenFolder
from iap_simulation.batch.batch_loop import fly_lanes
from iap_simulation.batch.records import HOLD, SETPOINT, TRACK, BatchState

THREADS = (
    LANES  # of a launch's block: as many as run in step, so that few worlds spread over the GPU
)
NO_VALUES = np.zeros((1, 1))  # of an action, where references are not made of any

DeviceArray = Any  # has __cuda_array_interface__

if not config.ENABLE_CUDASIM and find_spec("numba_cuda") is not None:
    # It keeps code as numba does, and compares the file of a kernel alone; it reads no variable for that.
    cache = import_module("numba.cuda.core.caching").CacheImpl
    cache._locator_classes = [ChosenFolder, BesideSource, *cache._locator_classes]


def check_gpu() -> None:
    """See that there is something to fly on.

    Raises:
        BadInput: numba-cuda is not installed, or there is no GPU.
    """
    if config.ENABLE_CUDASIM:
        return
    if find_spec("numba_cuda") is None:
        raise missing("numba-cuda", "device 'cuda' needs", "gpu")
    if not cuda.is_available():
        raise BadInput(
            "device 'cuda': no NVIDIA GPU with a driver is found (nvidia-smi lists them)"
        )


@cuda.jit(device=True)
def _fly(periods: int, law: int, state: BatchState) -> None:
    """Fly the world of this thread."""
    world = cuda.grid(1)
    if world < len(state.flight.x):
        lane = np.uint64(world % LANES)
        lanes = (lane, lane + np.uint64(1))
        fly_lanes(world - world % LANES, lanes, periods, law, state)


# One kernel for each law, which the compiler then knows: all in one would not fit a thread's registers.


@cuda.jit(cache=True)
def fly_held(periods: int, state: BatchState) -> None:
    """Fly worlds under commands that they hold."""
    _fly(periods, HOLD, state)


@cuda.jit(cache=True)
def fly_full(periods: int, state: BatchState) -> None:
    """Fly worlds whose platforms are fully actuated."""
    _fly(periods, FULL, state)


@cuda.jit(cache=True)
def fly_collinear(periods: int, state: BatchState) -> None:
    """Fly worlds whose platforms have their joints on a line."""
    _fly(periods, COLLINEAR, state)


@cuda.jit(cache=True)
def fly_rigid(periods: int, state: BatchState) -> None:
    """Fly worlds whose rotors are all fixed to one body."""
    _fly(periods, RIGID, state)


@cuda.jit(cache=True)
def fly_vectored(periods: int, state: BatchState) -> None:
    """Fly worlds whose aircraft tilts its rotors."""
    _fly(periods, VECTORED, state)


KERNELS = {
    HOLD: fly_held,
    FULL: fly_full,
    COLLINEAR: fly_collinear,
    RIGID: fly_rigid,
    VECTORED: fly_vectored,
}


class OnDevice(NamedTuple):
    """Arrays of B worlds in the GPU's memory, which other libraries take without a copy.

    They are there until worlds are reset, restored or commanded from outside; ask for them again after that.

    Attributes:
        state: (B, bodies, 13).
        rpm: (B, N, 4) rotor speeds [rpm].
        status: (B,).
    """

    state: DeviceArray
    rpm: DeviceArray
    status: DeviceArray


class Gpu:
    """Worlds in the memory of a GPU, beside the arrays that they have in this machine's.

    One of the two is valid: what flies here is in the GPU's until `bring_home`.

    Raises:
        BadInput: there is none, or numba-cuda is not installed.
    """

    def __init__(self) -> None:
        check_gpu()
        self._arrays: dict[tuple[Any, ...], DeviceArray] = {}  # by the memory of their twins
        self._sent: BatchState | None = None
        self._twins: BatchState | None = None

    def fly(self, periods: int, state: BatchState) -> None:
        """Fly all worlds for some control periods; returns before they have done so."""
        device = self.sent(state)
        batch = len(state.flight.status)
        KERNELS[state.law][-(-batch // THREADS), THREADS](periods, device)

    def sent(self, state: BatchState) -> BatchState:
        """The same with arrays in the GPU's memory; they are sent where it has none that are newer."""
        if self._sent is None:
            self._sent, self._twins = self._send(state), state
        goal, setpoints, there = state.goal, state.setpoints, self._sent
        takes_values = goal.what not in (TRACK, SETPOINT)
        values = _sent(goal.values) if takes_values else there.goal.values
        air_W = _sent(goal.air_W) if goal.is_gusty else there.goal.air_W
        references: Any = there.setpoints[1:]  # the plant's states are there
        if goal.what == SETPOINT:
            references = map(_sent, setpoints[1:])
        return there._replace(
            goal=there.goal._replace(what=goal.what, values=values, air_W=air_W),
            setpoints=type(setpoints)(there.setpoints.x, *references),
            law=state.law,
        )

    def _send(self, state: BatchState) -> BatchState:
        """Send everything."""
        known, self._arrays = self._arrays, {}
        goal = state.goal._replace(values=NO_VALUES)
        sent: BatchState = self._map(state._replace(goal=goal), known)
        return sent

    def _map(self, tree: Any, known: dict[tuple[Any, ...], DeviceArray]) -> Any:  # noqa: ANN401 - any tuple
        """The same tuple of tuples with the arrays in the GPU's memory; those of one memory stay one."""
        if isinstance(tree, tuple):
            parts = [self._map(each, known) for each in tree]
            return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
        if not isinstance(tree, np.ndarray):
            return tree
        key = _key(tree)
        if key not in self._arrays:
            self._arrays[key] = _sent(tree, known.get(key))
        return self._arrays[key]

    def bring_home(self) -> None:
        """Copy what has changed into this machine's arrays, which are valid from now on."""
        if self._twins is not None:
            for array in _changed(self._twins):
                self._arrays[_key(array)].copy_to_host(array)
        self._sent = self._twins = None

    def current(self, array: Array | Integers) -> Array | Integers:
        """One of the arrays, copied from the GPU's memory where that is newer."""
        if self._twins is not None:
            self._arrays[_key(array)].copy_to_host(array)
        return array

    def of(self, *arrays: Array | Integers) -> OnDevice:
        """Arrays in the GPU's memory that `sent` has put there."""
        return OnDevice(*(self._arrays[_key(array)] for array in arrays))


def _changed(state: BatchState) -> list[Any]:
    """The arrays that a flight changes, but for blocks of states, which are read anew by the next one."""
    flight = state.flight
    states = [flight.x, flight.status, flight.failed, flight.step_counts, flight.inputs.ticks]
    rotors = [flight.rotors.rpm, flight.rotors.tilt, flight.rotors.target]
    return [*states, *rotors, *flight.command, state.controllers]


def _key(array: Array | Integers) -> tuple[Any, ...]:
    """The memory of an array."""
    return array.__array_interface__["data"][0], array.shape, array.dtype.str


def _sent(array: Any, to: DeviceArray | None = None) -> DeviceArray:  # noqa: ANN401 - of any library
    """An array in the GPU's memory, without a copy if it is there."""
    if hasattr(array, "__cuda_array_interface__"):
        return cuda.as_cuda_array(array)
    if to is None:
        return cuda.to_device(array)
    to.copy_to_device(array)
    return to
