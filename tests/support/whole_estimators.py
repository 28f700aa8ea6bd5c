# SPDX-License-Identifier: BSD-3-Clause
"""Settings and duration of the flight that tests of whole estimators share."""

from iap_estimation.virpo.spec import load_spec

SPEC = load_spec().model_copy(update={"pixels": 1.0})
SECONDS = 12.0
