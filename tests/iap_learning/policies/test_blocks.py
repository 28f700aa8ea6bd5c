# SPDX-License-Identifier: BSD-3-Clause
"""Policies with convolutions and a memory: in files, flights, ONNX and C they act as double precision does."""

import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_up_policies import header

from iap_description.errors import BadInput
from iap_learning.evaluation.batched import fly_each
from iap_learning.evaluation.flyers import of_policy
from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.policies.blocks.gru import Gru
from iap_learning.policies.c_header import exact_actions, exact_flight
from iap_learning.policies.exports import export
from iap_learning.policies.layout import Header
from iap_learning.policies.onnx import model_of
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_episodes
from iap_simulation.simulation.simulation import Simulation

GRU = Gru(kind="gru", size=24)
IMAGE = Convolution(kind="convolution", image=(12, 16), channels=(4, 6), kernel=3, stride=2)
LAYER = Convolution(kind="convolution", image=(12, 16), channels=(4,), kernel=3, stride=2)
BLOCKS = {
    "gru": (GRU,),
    "convolution": (IMAGE,),
    "layer": (LAYER,),  # its images end in the other buffer
    "both": (IMAGE, GRU),
    "two": (GRU, GRU),
}
FLAGS = (("-O2",), ("-O3", "-ffast-math"), ("-Os",))


def drawn(head: Header, seed: int = 0) -> Policy:
    """A policy of drawn weights with the blocks of a header."""
    rng = np.random.default_rng(seed)
    blocks = [
        {name: rng.normal(0.0, max(1, np.prod(shape[1:]) if "kernels" in name else shape[0]) ** -0.5, shape)
         for name, shape in shapes.items()}
        for shapes in head.shapes
    ]  # fmt: skip
    sizes = (head.features, 16, len(head.action.low))
    weights = [rng.normal(0.0, n**-0.5, (n, m)) for n, m in zip(sizes, sizes[1:], strict=False)]
    biases = [rng.normal(0.0, 0.1, m) for m in sizes[1:]]
    mean, deviation = rng.normal(size=head.size), rng.uniform(0.5, 2.0, head.size)
    return Policy(head, mean, deviation, weights, biases, blocks=blocks)


def policy(name: str, seed: int = 0) -> Policy:
    terms = (("velocity", 10, 1.0), ("depth", 192, 1.0))
    return drawn(header(observation=terms, blocks=BLOCKS[name]), seed)


def observations(flown: Policy, count: int) -> np.ndarray:
    deviates = np.random.default_rng(5).standard_normal((count, flown.header.size))
    return (flown.mean + flown.deviation * deviates).astype(np.float32)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def test_a_unit_is_that_of_its_equations() -> None:
    flown = policy("gru")
    parts = {name: each.astype(float) for name, each in flown.blocks[0].items()}
    h, n = np.zeros(GRU.size), GRU.size
    seen = observations(flown, 5)
    for k, x in enumerate((seen - flown.mean.astype(float)) / flown.deviation):
        of_x, of_h = (
            x @ parts["inputs"] + parts["biases"][0],
            h @ parts["memory"] + parts["biases"][1],
        )
        r, z = sigmoid(of_x[:n] + of_h[:n]), sigmoid(of_x[n : 2 * n] + of_h[n : 2 * n])
        h = (1.0 - z) * np.tanh(of_x[2 * n :] + r * of_h[2 * n :]) + z * h
        hidden = np.tanh(h @ flown.weights[0].astype(float) + flown.biases[0])
        wanted = np.clip(hidden @ flown.weights[1].astype(float) + flown.biases[1], -1.0, 1.0)
        np.testing.assert_allclose(exact_flight(flown, seen[: k + 1])[-1], wanted, atol=1e-12)


def test_a_convolution_is_the_sum_over_its_window_and_the_rest_passes_by() -> None:
    scipy_signal = pytest.importorskip("scipy.signal")
    flown = policy("convolution")
    arrays = {name: each.astype(float) for name, each in flown.blocks[0].items()}
    x = np.random.default_rng(2).normal(size=(2, flown.header.size))
    image = x[1, 10:].reshape(1, 12, 16)
    for i in range(2):
        kernels, biases = arrays[f"kernels_{i}"], arrays[f"biases_{i}"]
        sums = [
            sum(
                scipy_signal.correlate2d(image[d], kernels[c, d], "valid")
                for d in range(len(image))
            )
            for c in range(len(kernels))
        ]
        image = np.maximum(np.array(sums)[:, ::2, ::2] + biases[:, None, None], 0.0)
    out = IMAGE.run(arrays, x, np.zeros((2, 0)))
    np.testing.assert_allclose(out[1], [*x[1, :10], *image.ravel()], atol=1e-12)


@pytest.mark.parametrize("name", BLOCKS)
def test_flights_of_100_steps_are_those_of_double_precision(name: str) -> None:
    flown = policy(name)
    seen, act = observations(flown, 100), flown.acting()
    found = np.array([act(each) for each in seen])
    np.testing.assert_allclose(found, exact_flight(flown, seen), atol=1e-5)
    assert np.abs(found).mean() > 0.05


def test_each_flight_has_a_memory_of_its_own() -> None:
    flown = policy("both")
    seen = observations(flown, 12).reshape(4, 3, -1)
    act, alone = flown.acting(3), [flown.acting() for _ in range(3)]
    for rows in seen:
        found = act(rows)
        for row, one, wanted in zip(rows, alone, found, strict=True):
            np.testing.assert_array_equal(one(row), wanted)
    act.begin([1])
    np.testing.assert_array_equal(act(seen[0])[1], flown.acting()(seen[0, 1]))
    with pytest.raises(BadInput, match="has a memory"):
        flown(seen[0])


@pytest.mark.parametrize("name", BLOCKS)
def test_a_file_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    flown = policy(name)
    flown.save(tmp_path / "one.npz")
    read, seen = Policy.load(tmp_path / "one.npz"), observations(flown, 3)
    assert read.digest == flown.digest and read.header == flown.header
    np.testing.assert_array_equal(read.acting(3)(seen), flown.acting(3)(seen))


@pytest.mark.parametrize("name", BLOCKS)
def test_onnx_acts_alike_over_100_steps(name: str) -> None:
    onnx = pytest.importorskip("onnx")
    reference = pytest.importorskip("onnx.reference")
    flown = policy(name)
    model = reference.ReferenceEvaluator(model_of(flown))
    seen, memory, found = observations(flown, 100), np.zeros((1, flown.memory), np.float32), []
    for row in seen:
        inputs = {"observation": row[None]} | ({"memory": memory} if flown.memory else {})
        action, *rest = model.run(None, inputs)
        memory = rest[0] if rest else memory
        found.append(action[0])
    np.testing.assert_allclose(found, exact_flight(flown, seen), atol=1e-5)
    onnx.checker.check_model(model_of(flown), full_check=True)


STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
MAIN = """
#include <stdio.h>
#include "policy.h"
static policy_state state;
int main(void)
{
    float in[POLICY_INPUTS], out[POLICY_OUTPUTS];
    if (policy_test(&state) > 1e-5f)
        return 3;
    while (fread(in, sizeof in, 1, stdin) == 1) {
        fprintf(stderr, "%d", policy_act(&state, in, out));
        fwrite(out, sizeof out, 1, stdout);
    }
    return 0;
}
"""


@pytest.mark.parametrize("flags", FLAGS, ids="".join)
@pytest.mark.parametrize("name", BLOCKS)
def test_compiled_c_acts_alike_over_100_steps(
    name: str, flags: tuple[str], tmp_path: Path
) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    flown = policy(name)
    export(flown, tmp_path / "policy.h")
    (tmp_path / "main.c").write_text(MAIN)
    line = [compiler, *STRICT, *flags, "main.c", "-o", "run", "-lm"]
    subprocess.run(line, cwd=tmp_path, check=True)
    seen = observations(flown, 100)
    done = subprocess.run(
        [tmp_path / "run"], input=seen.tobytes(), capture_output=True, check=True
    )
    found = np.frombuffer(done.stdout, np.float32).reshape(100, -1)
    np.testing.assert_allclose(found, exact_flight(flown, seen), atol=1e-5)
    assert done.stderr == b"0" * 100


def test_an_object_needs_libm_alone_and_a_bad_observation_leaves_the_memory(
    tmp_path: Path,
) -> None:
    compiler, nm = shutil.which("gcc"), shutil.which("nm")
    if compiler is None or nm is None:
        pytest.skip("no gcc")
    flown = policy("both")
    export(flown, tmp_path / "policy.h")
    user = "int act(policy_state *s, const float *in, float *out) { return policy_act(s, in, out); }\n"
    (tmp_path / "user.c").write_text('#include "policy.h"\n' + user)
    line = [compiler, *STRICT, "-O2", "-c", "user.c", "-o", "user.o"]
    subprocess.run(line, cwd=tmp_path, check=True)
    names = subprocess.run([nm, "-u", "user.o"], cwd=tmp_path, capture_output=True, text=True)
    assert set(names.stdout.split()) <= {"U", "tanhf", "expf", "memcpy", "memset"}
    (tmp_path / "main.c").write_text(MAIN)
    line = [compiler, *STRICT, "main.c", "-o", "run", "-lm"]
    subprocess.run(line, cwd=tmp_path, check=True)
    seen = np.insert(observations(flown, 3), 1, np.nan, axis=0)
    done = subprocess.run(
        [tmp_path / "run"], input=seen.tobytes(), capture_output=True, check=True
    )
    found = np.frombuffer(done.stdout, np.float32).reshape(4, -1)
    wanted = exact_flight(flown, np.delete(seen, 1, axis=0))
    np.testing.assert_allclose(np.delete(found, 1, axis=0), wanted, atol=1e-5)
    assert done.stderr == b"0100" and not found[1].any()


def learned(task: str, blocks: tuple[object, ...], folder: Path) -> Policy:
    """A policy of drawn weights for a task, from its file."""
    head = Header.for_episodes(make_episodes(task, 1), {}, blocks=blocks)
    drawn(head).save(folder / "policy.npz")
    return Policy.load(folder / "policy.npz")


@pytest.mark.parametrize(
    ("task", "blocks"),
    [
        ("hold", (GRU,)),
        pytest.param(
            "navigate",
            (
                Convolution(kind="convolution", image=(6, 16), channels=(4,), kernel=3, stride=2),
                GRU,
            ),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_single_flight_is_that_of_the_episodes_bit_for_bit(
    task: str, blocks: tuple[object, ...], tmp_path: Path
) -> None:
    flown = learned(task, blocks, tmp_path)
    episodes = make_episodes(task, 2)
    act, seen = flown.acting(2), episodes.reset(seeds=[6, 7])
    sets = {"policy": str(tmp_path / "policy.npz"), **episodes.task.settings}
    scenario = episodes.task.scenario
    with Simulation.of(scenario, engine="closed_form", seed=7, settings=sets) as simulation:
        for _ in range(10):
            seen = episodes.step(act(seen)).observation
            for _ in range(episodes.task.repeat):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])


class Tensor:
    """An array as a parameter of PyTorch's."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def detach(self) -> "Tensor":
        return self

    def numpy(self) -> np.ndarray:
        return self.values


def test_a_unit_of_pytorch_becomes_a_policy_as_the_page_says() -> None:
    """With PyTorch's names and shapes of parameters, as its documentation has them for GRU and Linear."""
    page = (Path(__file__).parents[3] / "docs" / "how_to" / "policies.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    episodes, rng = make_episodes("hold", 1), np.random.default_rng(3)
    n, size = episodes.observed, 5
    shapes = {
        "weight_ih_l0": (15, n),
        "weight_hh_l0": (15, size),
        "bias_ih_l0": 15,
        "bias_hh_l0": 15,
    }
    part = {name: Tensor(rng.normal(size=shape)) for name, shape in shapes.items()}
    gru = SimpleNamespace(hidden_size=size, named_parameters=part.items)
    head = SimpleNamespace(
        weight=Tensor(rng.normal(size=(4, size))), bias=Tensor(rng.normal(size=4))
    )
    made = names["to_policy"](episodes, gru, head, np.zeros(n), np.ones(n))
    h = np.zeros(size)
    for x in rng.normal(size=(3, n)):
        of_x, of_h = (
            part[f"weight_{way}_l0"].values @ v + part[f"bias_{way}_l0"].values
            for way, v in (("ih", x), ("hh", h))
        )
        r, z = (sigmoid(of_x[k : k + 5] + of_h[k : k + 5]) for k in (0, 5))
        h = (1.0 - z) * np.tanh(of_x[10:] + r * of_h[10:]) + z * h
    wanted = np.clip(head.weight.values @ h + head.bias.values, -1.0, 1.0)
    seen = np.random.default_rng(3)
    for shape in (*shapes.values(), (4, size), 4):
        seen.normal(size=shape)
    np.testing.assert_allclose(exact_flight(made, seen.normal(size=(3, n)))[-1], wanted, atol=1e-5)


def test_an_evaluation_remembers(tmp_path: Path) -> None:
    flown = learned("hold", (GRU,), tmp_path)
    results = fly_each(make_episodes("hold", 2), of_policy(flown), [3, 4])
    alone = fly_each(make_episodes("hold", 1), of_policy(flown), [4])
    assert results.measures["time"][1] == alone.measures["time"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blocks": ({"kind": "lstm"},)}, "lstm"),
        (
            {"blocks": ({**IMAGE.model_dump(), "image": [40, 40]},)},
            "40 x 40 pixels of 202 numbers",
        ),
        ({"blocks": ({**IMAGE.model_dump(), "kernel": 9},)}, "is too small for 2 layers"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(change: dict[str, object], message: str) -> None:
    tree = policy("both").header.model_dump()
    with pytest.raises(ValueError, match=message):
        Header.model_validate({**tree, **change})


def test_arrays_of_other_shapes_are_refused_by_their_names() -> None:
    flown = policy("both")
    bad = [dict(flown.blocks[0]), {**flown.blocks[1], "memory": np.zeros((2, 2))}]
    parts = (flown.header, flown.mean, flown.deviation, flown.weights, flown.biases)
    with pytest.raises(BadInput, match=r"array 'block_1_memory': has shape \(2, 2\)"):
        Policy(*parts, blocks=bad)
    with pytest.raises(BadInput, match="array 'block_0_biases_0': the blocks of the header"):
        Policy(*parts)
    assert exact_actions(flown, observations(flown, 2)).shape == (2, 6)
