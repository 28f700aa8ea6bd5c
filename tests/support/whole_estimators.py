# SPDX-License-Identifier: BSD-3-Clause
"""What tests of whole estimators share: settings, and how long the flight is."""

from iap_estimation.virpo.spec import load_spec

SPEC = load_spec().model_copy(update={"pixels": 1.0})
SECONDS = 12.0
