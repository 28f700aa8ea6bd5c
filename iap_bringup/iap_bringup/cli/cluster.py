# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap cluster``: this machine's part of a Ray cluster, for ``iap sweep --cluster``."""

import argparse
import subprocess
import sys

from iap_simulation.sweeps.cluster import imported_ray

PORT = 6379  # of a cluster's head


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Options of ``iap cluster``."""
    parser.description = "Be a part of a Ray cluster in this checkout's environment until Ctrl-C."
    parser.epilog = "Ray has no password, and does what it is sent: on a private network only."
    parser.add_argument(
        "head",
        nargs="?",
        metavar="HOST:PORT",
        help="of the cluster that this machine joins; without it this machine is the head",
    )
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"of the head (default: {PORT})"
    )
    parser.set_defaults(run=cluster)


def cluster(options: argparse.Namespace) -> int:
    """Start this machine's part, and stay."""
    imported_ray()
    command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "start", "--block"]
    if options.head is None:
        command += ["--head", f"--port={options.port}", "--include-dashboard=false"]
    else:
        command += [f"--address={options.head}"]
    return subprocess.run([*command, "--disable-usage-stats"], check=False).returncode
