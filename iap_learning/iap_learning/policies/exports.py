# SPDX-License-Identifier: BSD-3-Clause
"""Policies in the formats of others, by the ending of a file's name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from iap_description.errors import BadInput
from iap_learning.policies import c_header, onnx
from iap_learning.policies.policy import Policy

EXPORTS: Mapping[str, Callable[[Policy, Path], None]] = {
    onnx.SUFFIX: onnx.export,
    c_header.SUFFIX: c_header.export,
}


def export(policy: Policy, path: Path) -> None:
    """Write a policy in the format that its file's name ends in.

    Raises:
        BadInput: there is no such format, or what it needs is not installed.
        RecordingFailed: it cannot be written.
    """
    write = EXPORTS.get(path.suffix)
    if write is None:
        raise BadInput(f"--export {path}: a file's name ends in {' or '.join(EXPORTS)}")
    write(policy, path)
