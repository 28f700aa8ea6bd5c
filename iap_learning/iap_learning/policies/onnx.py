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


def model_of(policy: Policy) -> Any:  # noqa: ANN401 - onnx.ModelProto, of an extra
    """The ONNX model of a policy; its metadata have the policy's header as key `header`.

    Raises:
        BadInput: onnx is not installed.
    """
    onnx = _library()
    make, floats = onnx.helper, onnx.TensorProto.FLOAT
    constants = {"mean": policy.mean, "deviation": policy.deviation, "one": np.float32(1.0)}
    constants["minus_one"] = np.float32(-1.0)
    nodes = [make.make_node("Sub", ["observation", "mean"], ["centred"])]
    nodes.append(make.make_node("Div", ["centred", "deviation"], ["hidden_0"]))
    last = len(policy.weights) - 1
    for i, (weights, biases) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        constants |= {f"weights_{i}": weights, f"biases_{i}": biases}
        nodes.append(
            make.make_node("Gemm", [f"hidden_{i}", f"weights_{i}", f"biases_{i}"], [f"sum_{i}"])
        )
        if i < last:
            nodes.append(make.make_node("Tanh", [f"sum_{i}"], [f"hidden_{i + 1}"]))
    nodes.append(make.make_node("Clip", [f"sum_{last}", "minus_one", "one"], ["action"]))
    graph = make.make_graph(
        nodes,
        policy.header.task,
        [make.make_tensor_value_info("observation", floats, ["batch", policy.header.size])],
        [make.make_tensor_value_info("action", floats, ["batch", policy.size])],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opset = [make.make_opsetid("", OPSET)]
    model = make.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
    make.set_model_props(model, {"header": policy.header.model_dump_json()})
    onnx.checker.check_model(model)
    return model


def _library() -> Any:  # noqa: ANN401 - a module
    try:
        import onnx  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise missing("onnx", "export needs", "training") from error
    return onnx
