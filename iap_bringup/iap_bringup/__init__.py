# SPDX-License-Identifier: BSD-3-Clause
"""What brings the suite up: command line, launch, experiments, pictures, and the nodes that record and play."""

from pathlib import Path

DATA = Path(__file__).parent / "data"
