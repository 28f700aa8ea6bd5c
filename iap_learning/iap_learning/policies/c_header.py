# SPDX-License-Identifier: BSD-3-Clause
r"""Policies as C headers, for autopilots: C99 without heap and static state, whose only library is `libm`.

A header has the arrays of a policy, ``policy_act(observation, action)``, what -1 and 1 of an action stand for, and
observations with the actions that belong to them: ``policy_test()`` gives the largest error, so that a compiler, its
switches and an arithmetic unit are checked where the policy will fly. Weights travel with their test as in RLtools
(Eschmann, Albani, Loianno, JMLR 25, 2024). Numbers are float32 with nine digits, which brings each back as it was.

A policy with blocks keeps its memory and its buffers in a ``policy_state`` of the caller's, the first argument of
``policy_act`` and ``policy_test``; ``policy_reset`` begins a flight. Its checked observations are one flight.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.math.random_streams import stream
from iap_io.runs.run_folder import write_file
from iap_learning.policies.blocks.block import CCall
from iap_learning.policies.policy import Policy

Exact = NDArray[np.float64]  # actions in double precision, against which exports are checked
SUFFIX = ".h"
TESTS = 4  # observations that are checked
PER_LINE = 8  # numbers


def export(policy: Policy, path: Path) -> None:
    """Write a policy as a C header.

    Raises:
        RecordingFailed: it cannot be written.
    """
    write_file(path, c_header(policy).encode())


def c_header(policy: Policy) -> str:
    """The text of a policy's header; equal policies give equal texts."""
    return "\n".join(_lines(policy)) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    header, has_state = policy.header, bool(policy.header.blocks)
    rng = stream(1, "observations that check a policy")
    deviates = rng.standard_normal((TESTS, header.size))
    tests = (policy.mean + policy.deviation * deviates).astype(np.float32)
    yield from _comment(policy)
    yield "#ifndef IAP_POLICY_H\n#define IAP_POLICY_H\n#include <math.h>\n"
    yield f"#define POLICY_INPUTS {header.size}"
    yield f"#define POLICY_OUTPUTS {policy.size}"
    yield f"#define POLICY_RATE_HZ {_number(header.rate_hz)}\n"
    yield from _array("policy_low", header.action.low)
    yield from _array("policy_high", header.action.high)
    yield from _array("policy_mean", policy.mean)
    yield from _array("policy_scale", 1.0 / policy.deviation.astype(np.float64))
    for i, (block, arrays) in enumerate(zip(header.blocks, policy.blocks, strict=True)):
        for name, values in block.c_arrays(arrays).items():
            yield from _array(f"policy_block_{i}_{name}", values)
    for layer, (weights, biases) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        yield from _array(f"policy_weights_{layer}", weights.T)  # output by output
        yield from _array(f"policy_biases_{layer}", biases)
    yield from _array("policy_test_inputs", tests)
    known = exact_flight if has_state else exact_actions
    yield from _array("policy_test_outputs", known(policy, tests))
    yield from _state(policy) if has_state else ()
    yield _LAYER
    yield from dict.fromkeys(block.c_function() for block in header.blocks)
    yield _ACT.replace("STATE, ", "policy_state *state, " if has_state else "")
    yield from _act(policy)
    yield _test(has_state=has_state)
    yield "#endif"


def _widest(policy: Policy) -> int:
    """Most numbers that lie in one buffer."""
    header, sizes = policy.header, [policy.header.size, policy.header.features]
    sizes += [len(each) for each in policy.biases]
    parts = zip(header.blocks, header.inputs, strict=True)
    return max(*sizes, *(block.widest(inputs) for block, inputs in parts))


def _state(policy: Policy) -> Iterator[str]:
    """Type of a flight's state, and its beginning."""
    count, widest = policy.memory, _widest(policy)
    yield f"\n#define POLICY_MEMORY {count}"
    yield "\n/* State of a flight: what the policy remembers, and room for what it computes. */"
    yield "typedef struct {"
    yield f"    float memory[{max(1, count)}], a[{widest}], b[{widest}];"
    yield "} policy_state;\n"
    yield "/* Begin a flight. */"
    yield "static inline void policy_reset(policy_state *state)\n{"
    yield f"    for (int i = 0; i < {max(1, count)}; i++)\n        state->memory[i] = 0.0f;\n}}"


def _comment(policy: Policy) -> Iterator[str]:
    """A comment that says what the numbers mean."""
    header = policy.header
    yield f"/* Policy of task {header.task} for {header.platform}, asked {header.rate_hz:g} times a second."
    yield f" * SHA-256 of its file: {policy.digest}"
    yield " *"
    yield " * Observation, one term after the other (name: numbers, divided by):"
    for name, size, divisor in header.observation:
        yield f" *   {name}: {size}, {divisor:g}"
    yield f" * Action: {header.action.kind}; -1 stands for policy_low, 1 for policy_high, in SI units."
    yield " *"
    text = json.dumps(header.model_dump(mode="json")).replace("*/", "*\\/")
    yield f" * Header: {text}"
    yield " */"


def _array(name: str, values: ArrayLike) -> Iterator[str]:
    numbers = [_number(each) for each in np.asarray(values, np.float32).ravel().tolist()]
    yield f"static const float {name}[{len(numbers)}] = {{"
    for first in range(0, len(numbers), PER_LINE):
        yield "    " + " ".join(f"{each}," for each in numbers[first : first + PER_LINE])
    yield "};"


def _number(value: float) -> str:
    """A float32 in C, exactly."""
    text = f"{float(np.float32(value)):.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


_LAYER = """
static inline void policy_layer(const float *weights, const float *biases, const float *in, float *out, int inputs,
                                int outputs, int is_last)
{
    for (int j = 0; j < outputs; j++) {
        float sum = biases[j];
        for (int i = 0; i < inputs; i++)
            sum += weights[j * inputs + i] * in[i];
        out[j] = is_last ? (sum < -1.0f ? -1.0f : sum > 1.0f ? 1.0f : sum) : tanhf(sum);
    }
}
"""
_ACT = """
/* Actions in [-1, 1] at an observation; 0 if sound. If a number of the observation is not finite, it returns 1, and the
 * action is zeros: whoever calls it decides what to fly then. */
static inline int policy_act(STATE, const float *observation, float *action)
{"""


def _act(policy: Policy) -> Iterator[str]:
    header, widest = policy.header, _widest(policy)
    if header.blocks:
        yield "    float *a = state->a, *b = state->b;"
    else:
        yield f"    float a[{widest}], b[{widest}];"
    yield _SCALE
    before, after, memory = "a", "b", 0
    for i, (block, inputs) in enumerate(zip(header.blocks, header.inputs, strict=True)):
        lines, out = block.c_call(CCall(f"policy_block_{i}", inputs, before, after, memory))
        yield from lines
        before, after = ("a", "b") if out == "a" else ("b", "a")
        memory += block.memory
    sizes = [header.features, *(len(each) for each in policy.biases)]
    for layer, (inputs, outputs) in enumerate(zip(sizes, sizes[1:], strict=False)):
        is_last = layer == len(sizes) - 2
        out = "action" if is_last else after
        arrays = f"policy_weights_{layer}, policy_biases_{layer}, {before}, {out}"
        yield f"    policy_layer({arrays}, {inputs}, {outputs}, {int(is_last)});"
        before, after = after, before
    yield "    (void)b;\n    return 0;\n}"


_SCALE = """    int is_sound = 1;
    for (int i = 0; i < POLICY_INPUTS; i++) {
        a[i] = (observation[i] - policy_mean[i]) * policy_scale[i];
        is_sound = is_sound && isfinite(a[i]);
    }
    if (!is_sound) {
        for (int j = 0; j < POLICY_OUTPUTS; j++)
            action[j] = 0.0f;
        return 1;
    }"""


def _test(*, has_state: bool) -> str:
    """The function that checks the policy."""
    text = _TEST.replace("TESTS", str(TESTS))
    argument, reset = (
        ("policy_state *state", "    policy_reset(state);\n") if has_state else ("void", "")
    )
    text = text.replace("ARGUMENT", argument).replace("RESET", reset)
    return text.replace("STATE, ", "state, " if has_state else "")


_TEST = """
/* Largest error of an action at observations whose actions are known; below 1e-5 where all is well. */
static inline float policy_test(ARGUMENT)
{
    float largest = 0.0f, action[POLICY_OUTPUTS];
RESET    for (int k = 0; k < TESTS; k++) {
        if (policy_act(STATE, policy_test_inputs + k * POLICY_INPUTS, action))
            return INFINITY;
        for (int j = 0; j < POLICY_OUTPUTS; j++) {
            float error = fabsf(action[j] - policy_test_outputs[k * POLICY_OUTPUTS + j]);
            largest = error > largest ? error : largest;
        }
    }
RESET    return largest;
}
"""


def exact_actions(policy: Policy, observations: ArrayLike) -> Exact:
    """Actions (B, size) of flights at their start, at observations (B, n)."""
    rows = np.atleast_2d(np.asarray(observations, np.float64))
    return _acted(policy, rows, np.zeros((len(rows), policy.memory)))


def exact_flight(policy: Policy, observations: ArrayLike) -> Exact:
    """Actions (T, size) of one flight, at its observations (T, n) one after the other."""
    memory = np.zeros((1, policy.memory))
    rows = np.asarray(observations, np.float64)
    return np.concatenate([_acted(policy, row[None], memory) for row in rows])


def _acted(policy: Policy, rows: Exact, memory: Exact) -> Exact:
    """Actions (B, size), with memories (B, m) that are written."""
    h, first = (rows - policy.mean) / policy.deviation, 0
    for block, arrays in zip(policy.header.blocks, policy.blocks, strict=True):
        wide = {name: each.astype(np.float64) for name, each in arrays.items()}
        end = first + block.memory
        kept = np.ascontiguousarray(memory[:, first:end])
        h = block.run(wide, np.ascontiguousarray(h), kept)
        memory[:, first:end], first = kept, end
    last = len(policy.weights) - 1
    for layer, (weights, biases) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        h = h @ weights.astype(np.float64) + biases
        h = np.tanh(h) if layer < last else np.clip(h, -1.0, 1.0)
    return np.asarray(h)
