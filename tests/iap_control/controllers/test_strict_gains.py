# SPDX-License-Identifier: BSD-3-Clause
"""Gains are numbers, not what looks like one."""

from strict_records import lax_fields, plain_fields

from iap_control.arm.arm_spec import ArmSpec
from iap_control.gains import Gains
from iap_control.modules.settings import ModulesSpec


def test_a_gain_is_no_text_and_a_switch_is_no_number():
    roots = (Gains, ModulesSpec, ArmSpec)
    assert len(list(plain_fields(*roots))) > 20
    assert lax_fields(*roots) == []
