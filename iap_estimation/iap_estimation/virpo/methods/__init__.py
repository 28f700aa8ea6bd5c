# SPDX-License-Identifier: BSD-3-Clause
"""Methods of localisation: vio, joint, virpo, drift_filter, uwb, batch."""
