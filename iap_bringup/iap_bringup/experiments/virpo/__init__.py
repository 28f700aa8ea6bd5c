# SPDX-License-Identifier: BSD-3-Clause
"""The studies of localisation, beside what is published."""
