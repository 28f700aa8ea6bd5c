# SPDX-License-Identifier: BSD-3-Clause
"""Effects of a real camera: optics, exposure, image sensor, readout and processing."""
