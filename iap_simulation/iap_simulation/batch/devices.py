# SPDX-License-Identifier: BSD-3-Clause
"""Devices that fly worlds."""

from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, get_args

from iap_description.errors import BadInput

if TYPE_CHECKING:
    from iap_simulation.batch.on_cuda import Gpu

Device = Literal["cpu", "cuda"]
CPU: Final = "cpu"
CUDA: Final = "cuda"  # an NVIDIA GPU


def check_device(device: str) -> None:
    """Refuse a device that cannot fly worlds here.

    Raises:
        BadInput: there is none of that name or on this machine, or its extra is not installed.
    """
    if device not in get_args(Device):
        raise BadInput(f"device '{device}': {' or '.join(get_args(Device))} is expected")
    if device == CUDA:
        import_module("iap_simulation.batch.on_cuda").check_gpu()


def gpu_of(device: Device) -> "Gpu | None":
    """The memory of the GPU for worlds of device ``cuda``; None for others."""
    if device == CPU:
        return None
    gpu: Gpu = import_module("iap_simulation.batch.on_cuda").Gpu()
    return gpu
