# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap cluster``: this machine's part of a Ray cluster, for ``iap sweep --cluster``."""

import argparse
import subprocess
import sys

from iap_simulation.sweeps.cluster import imported_ray


def cluster(options: argparse.Namespace) -> int:
    """Start this machine's part, and stay."""
    imported_ray()
    ray = [sys.executable, "-P", "-m", "ray.scripts.scripts"]
    if options.head is None:
        part = ["--head", f"--port={options.port}", "--include-dashboard=false"]
        subprocess.run([*ray, "get-auth-token", "--generate"], check=True, capture_output=True)
    else:
        part = [f"--address={options.head}"]
    return _stay([*ray, "start", "--block", "--disable-usage-stats", *part])


def _stay(start: list[str]) -> int:
    """Run Ray's part until it ends, or end it with all its processes where this command is to end."""
    with subprocess.Popen(start, start_new_session=True) as ray:
        try:
            return ray.wait()
        except KeyboardInterrupt:  # by a signal, which Ray has not had: it is not of this group
            ray.terminate()
            ray.wait()
            raise
