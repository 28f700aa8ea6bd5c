# SPDX-License-Identifier: BSD-3-Clause
"""Bring-up of the suite: command line, launch, experiments, pictures, and the nodes that record and play."""

from pathlib import Path

from iap_description import __version__ as __version__

DATA = Path(__file__).parent / "data"
