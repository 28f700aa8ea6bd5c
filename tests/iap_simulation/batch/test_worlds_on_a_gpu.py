# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of device cuda: those of the processor, flown on numba's simulator of a GPU, and on one where there is one."""

import importlib.util
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from simulated_gpu import PLATFORMS, SETTINGS, TOLERANCE, check, simulated

from iap_description.errors import BadInput, IapError
from iap_description.math.lanes import DOUBLE
from iap_description.states import V
from iap_simulation.batch import on_cuda
from iap_simulation.batch.records import TRACK
from iap_simulation.batch.worlds import Worlds

HAS_EXTRA = importlib.util.find_spec("numba_cuda") is not None


@pytest.fixture(scope="module")
def on_a_gpu(tmp_path_factory):
    """Final states of worlds on a simulated GPU."""
    return simulated(tmp_path_factory.mktemp("gpu") / "flown.npz", PLATFORMS, DOUBLE)


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_worlds_on_a_simulated_gpu_are_those_of_the_processor(on_a_gpu, platform):
    """References, controllers, checks and plants in gusts, snapshots, resets and held commands, of each law."""
    check(on_a_gpu, platform, DOUBLE)


def test_without_the_extra_the_refusal_has_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr("iap_simulation.batch.on_cuda.find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r"pip install .*requirements/lock/gpu\.txt") as refusal:
        Worlds.of("hover", 1, device="cuda")
    assert "\n" not in str(refusal.value)


def test_without_a_gpu_the_refusal_says_so(monkeypatch):
    monkeypatch.setattr("iap_simulation.batch.on_cuda.find_spec", lambda _: object())
    monkeypatch.setattr("iap_simulation.batch.on_cuda.cuda.is_available", lambda: False)
    with pytest.raises(BadInput, match="device 'cuda': no NVIDIA GPU with a driver is found"):
        Worlds.of("hover", 1, device="cuda")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"device": "gpu"}, "device 'gpu': cpu or cuda is expected"),
        (
            {"device": "cuda", "settings": {"state_noise.position": 0.01}},
            "device 'cuda': noise, delays.*; device 'cpu' flies these worlds",
        ),
    ],
)
def test_what_a_gpu_does_not_fly_is_refused_by_name(monkeypatch, options, why):
    monkeypatch.setattr("iap_simulation.batch.on_cuda.check_gpu", lambda: None)
    with pytest.raises(BadInput, match=why) as refusal:
        Worlds.of("hover", 1, **options)
    assert "\n" not in str(refusal.value)


def test_worlds_of_the_processor_have_no_arrays_on_a_gpu():
    with pytest.raises(IapError, match="only worlds of device 'cuda'"):
        _ = Worlds.of("hover", 1).on_device


@pytest.mark.slow
def test_nothing_imports_the_gpu_s_target_unless_asked():
    code = (
        "import sys; from iap_simulation.batch.worlds import Worlds;"
        " Worlds.of('hover', 1).fly(1); assert 'numba.cuda' not in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


@pytest.mark.skipif(not HAS_EXTRA, reason="numba-cuda is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["fly_held", "fly_full"])
def test_a_kernel_keeps_its_numbers_in_registers(kernel, monkeypatch, tmp_path):
    """Compiled for compute capability 9.0, with or without a GPU."""
    from numba import cuda, typeof, types

    device = SimpleNamespace(compute_capability=(9, 0))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    worlds = Worlds.of("hover", 2)
    state = worlds._state_of(TRACK, None, worlds.plant.air.now_W[None], held=False)
    function = getattr(on_cuda, kernel).py_func
    signature = types.void(types.int64, typeof(state))
    ptx, _ = cuda.compile_ptx(function, signature, cc=device.compute_capability)
    path = tmp_path / "kernel.ptx"
    path.write_text(ptx)
    folder = importlib.util.find_spec("nvidia.cuda_nvcc").submodule_search_locations[0]
    command = [f"{folder}/bin/ptxas", "-arch=sm_90", "-v", str(path), "-o", str(tmp_path / "out")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert set(re.findall(r"(\d+) bytes spill", said)) == {"0"}


def has_gpu():
    if not HAS_EXTRA:
        return False
    from numba import cuda

    return cuda.is_available()


def after_a_second(device, platform, shift=0.0):
    """States of worlds whose central bodies begin a bit faster along x [m/s]."""
    worlds = Worlds.of("figure_eight", 300, settings=SETTINGS, platform=platform, device=device)
    worlds.plant.state()[:, 0, V.start] += shift
    worlds.fly(200)
    return worlds.state.copy()


@pytest.mark.skipif(not has_gpu(), reason="no GPU with numba-cuda")
@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_second_on_a_gpu_is_that_on_the_processor(platform):
    """Two runs on the GPU are equal bit for bit.

    Gusts bring a few worlds to where rounding decides: those fly differently on the processor too, if their starts
    differ by 1e-14 m/s.
    """
    on_cpu, shifted = (after_a_second("cpu", platform, shift) for shift in (0.0, 1e-14))
    first, second = (after_a_second("cuda", platform) for _ in range(2))
    is_determined = np.abs(shifted - on_cpu).max(axis=(1, 2)) < TOLERANCE[DOUBLE]["atol"]
    assert is_determined.mean() > 0.98
    np.testing.assert_allclose(first[is_determined], on_cpu[is_determined], **TOLERANCE[DOUBLE])
    np.testing.assert_array_equal(first, second)
