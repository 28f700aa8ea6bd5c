# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every kernel once, so that no run waits for it: a short flight under each control law, in wind.

The set-up calls ``python -m iap_bringup.warm_up``; numba keeps what was compiled, in ``NUMBA_CACHE_DIR`` under
``./iap``.
"""

import tempfile
from pathlib import Path

from iap_bringup.run import Flight, execute
from iap_bringup.scenario import Options, resolve

PLATFORMS = ("three_star", "two_line", "f450")  # one for each control law
WEATHER = ("wind.speed=1.0", "wind.turbulence=1.0", "state_noise.position=0.001")


def main() -> None:
    """Fly each law for a fifth of a second on both engines and throw the recordings away."""
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("closed_form", "pybullet"):
            for platform in PLATFORMS:
                assignments = (f"engine.name={engine}", *WEATHER)
                options = Options(platform=platform, duration=0.2, assignments=assignments)
                scenario, tree = resolve("hover", options)
                out = Path(folder) / f"{engine}-{platform}"
                out.mkdir()
                execute(Flight.of(scenario), out, tree, progress=lambda _: None)


if __name__ == "__main__":
    main()
