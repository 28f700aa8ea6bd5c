# SPDX-License-Identifier: BSD-3-Clause
"""Localisation: where was each aircraft? Estimated from recorded sensors, and compared with the truth.

You see the errors of the estimated positions: of each aircraft alone, and of all of them together,
whose joints tie them to one body (half a minute).
Run it with: python examples/05_localise_a_recording.py
"""

import sys

from iap_estimation.datasets.localization import localize
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.datasets.results import evaluate
from iap_estimation.navigation.settings import load_settings
from iap_simulation import record

QUICK = "--quick" in sys.argv
METHODS = ["vio_uwb"] if QUICK else ["vio_uwb", "joint"]

# Record a flight. A folder in EuRoC's layout or a bag of your own would do as well.
flight = record("figure_eight", sensors="stereo", duration=2.0 if QUICK else 12.0, seed=2)

# Open it as a data set, run the methods over it, and judge their estimates.
dataset = open_dataset(flight.folder)
evaluation = evaluate(localize(dataset, METHODS, load_settings()))
for body, methods in evaluation.metrics["estimation"].items():
    for name, record_of in methods.items():
        error = 1e3 * record_of["ate_rmse_m"]
        print(f"{body}, {name}: {error:.1f} mm RMS, at most {1e3 * record_of['ate_max_m']:.1f} mm")

print(f"the same with plots: iap localize {flight.folder} --method {','.join(METHODS)}")
