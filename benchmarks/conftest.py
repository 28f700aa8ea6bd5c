# SPDX-License-Identifier: BSD-3-Clause
"""Options of the benchmarks on the command line."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="that flies worlds: cpu or cuda")


@pytest.fixture(scope="session")
def device(request):
    """The function that flies worlds."""
    return request.config.getoption("--device")


def pytest_collection_modifyitems(config, items):
    """On a GPU, its own benchmarks alone; elsewhere, all others."""
    on_gpu = config.getoption("--device") == "cuda"
    chosen = [item for item in items if ("on_gpu" in item.path.name) == on_gpu]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
