# SPDX-License-Identifier: BSD-3-Clause
"""Control in contact: admittance, wrench control, push plans."""
