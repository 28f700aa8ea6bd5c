# SPDX-License-Identifier: BSD-3-Clause
"""Depths by rays and by OpenGL of the same scenes: the same on 99.9 % of the pixels, labels alike."""

import numpy as np
import pytest
from depths_by_both import cast, rendered


@pytest.mark.parametrize("scene", ["textured_walls", "building_cluster"])
def test_depths_and_labels_are_those_of_opengl(scene):
    (seen, labels), (depth, segments) = rendered(scene), cast(scene)
    both = np.isfinite(seen) & np.isfinite(depth)
    assert both.mean() > 0.4
    assert (np.isfinite(seen) == np.isfinite(depth)).mean() > 0.995  # but for edges before the sky
    off = np.abs(depth / seen - 1.0)[both]
    assert (off < 0.01).mean() >= 0.999
    assert np.median(off) < 1e-4
    assert (labels == segments)[both].mean() >= 0.998
