# SPDX-License-Identifier: BSD-3-Clause
"""Settings of estimators are numbers, not what looks like one."""

from strict_records import lax_fields, plain_fields

from iap_estimation.datasets.virtual_ranges import VirtualAnchors
from iap_estimation.navigation.settings import EstimationSettings


def test_a_setting_is_no_text_and_a_switch_is_no_number():
    roots = (EstimationSettings, VirtualAnchors)
    assert len(list(plain_fields(*roots))) > 60
    assert lax_fields(*roots) == []
