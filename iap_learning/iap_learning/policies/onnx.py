# SPDX-License-Identifier: BSD-3-Clause
"""Policies as ONNX models, for runtimes of other languages and machines; onnx is an extra."""

from pathlib import Path
from typing import Any

import numpy as np

from iap_description.process.extras import missing
from iap_io.runs.run_folder import write_file
from iap_learning.policies.policy import Policy

SUFFIX = ".onnx"
OPSET = 17
IR_VERSION = 8  # of files; runtimes that know the opset read it


def export(policy: Policy, path: Path) -> None:
    """Write a policy as an ONNX model from `observation` (B, n) to `action` (B, size), both float32.

    Raises:
        BadInput: onnx is not installed.
        RecordingFailed: it cannot be written.
    """
    write_file(path, model_of(policy).SerializeToString())


class Graph:
    """A graph that grows, see `iap_learning.policies.blocks.block.OnnxGraph`.

    Attributes:
        nodes: so far.
        constants: so far, by their names.
    """

    def __init__(self, make: Any) -> None:  # noqa: ANN401 - onnx.helper, of an extra
        self._make = make
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, values: Any) -> str:  # noqa: ANN401 - an array
        """Name of a constant."""
        name = f"constant_{len(self.constants)}"
        self.constants[name] = values
        return name

    def node(self, operator: str, *inputs: str, out: str = "", **attributes: Any) -> str:  # noqa: ANN401
        """Name of the result of an operator, which may be given."""
        name = out or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self._make.make_node(operator, list(inputs), [name], **attributes))
        return name


def model_of(policy: Policy) -> Any:  # noqa: ANN401 - onnx.ModelProto, of an extra
    """The ONNX model of a policy; its metadata have the policy's header as key `header`.

    A policy with a memory has a second input `memory` (B, m), zero at a flight's start, and a second output
    `next_memory`.

    Raises:
        BadInput: onnx is not installed.
    """
    onnx = _library()
    make, floats = onnx.helper, onnx.TensorProto.FLOAT
    graph, sizes = Graph(make), {"observation": policy.header.size}
    results = {"action": policy.size}
    if policy.memory:
        sizes["memory"] = results["next_memory"] = policy.memory
    _add_policy(graph, policy)
    values = (
        [make.make_tensor_value_info(name, floats, ["batch", size]) for name, size in each.items()]
        for each in (sizes, results)
    )
    constants = graph.constants.items()
    initial = [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants]
    made = make.make_graph(graph.nodes, policy.header.task, *values, initial)
    opset = [make.make_opsetid("", OPSET)]
    model = make.make_model(made, opset_imports=opset, ir_version=IR_VERSION)
    make.set_model_props(model, {"header": policy.header.model_dump_json()})
    onnx.checker.check_model(model)
    return model


def _add_policy(graph: Graph, policy: Policy) -> None:
    """Add all nodes of a policy."""
    add, constant = graph.node, graph.constant
    x = add("Sub", "observation", constant(policy.mean))
    x = add("Div", x, constant(policy.deviation))
    memories, first = [], 0
    for block, arrays in zip(policy.header.blocks, policy.blocks, strict=True):
        bounds = (constant(np.array([k], np.int64)) for k in (first, first + block.memory, 1))
        block_memory = add("Slice", "memory", *bounds) if block.memory else ""
        x, memory = block.add_to_onnx(graph, arrays, x, block_memory)
        memories += [] if memory is None else [memory]
        first += block.memory
    if memories:
        add("Concat", *memories, out="next_memory", axis=1)
    last = len(policy.weights) - 1
    for i, (weights, biases) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        x = add("Gemm", x, constant(weights), constant(biases))
        x = add("Tanh", x) if i < last else x
    bounds_of_action = (constant(np.float32(each)) for each in (-1.0, 1.0))
    add("Clip", x, *bounds_of_action, out="action")


def _library() -> Any:  # noqa: ANN401 - a module
    try:
        import onnx  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise missing("onnx", "export needs", "training") from error
    return onnx
