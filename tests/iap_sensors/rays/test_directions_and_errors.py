# SPDX-License-Identifier: BSD-3-Clause
"""Directions of rays, errors of ranges, rates of samples, views and films of cameras, and simple sensors."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_scenes import shot, spec

from iap_description.math import so3
from iap_description.math.atmosphere import standard_pressure
from iap_description.math.geodesy import Geodetic, geodetic
from iap_description.sensors.readings import SensorSource
from iap_sensors.camera_effects.effect import CameraGeometry, CameraImage, Exposure
from iap_sensors.cameras.image_noise import Film
from iap_sensors.cameras.view import PinholeView, camera_of_map, instants, place_at
from iap_sensors.inertial.magnetometer import Magnetometer, MagnetometerSpec
from iap_sensors.mounted.barometer import Barometer, BarometerSpec
from iap_sensors.mounted.gnss import Datum, GnssSpec, Receiver
from iap_sensors.mounted.sampling import Sampling, nearest_rate
from iap_sensors.rays import noise
from iap_sensors.rays.depth_camera_spec import PRESETS as DEPTH_CAMERAS
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.lidar_spec import PRESETS as LIDARS
from iap_sensors.rays.lidar_spec import LidarSpec
from iap_sensors.rays.noise import RangeErrors
from iap_sensors.rays.patterns import beams, pattern_of

SOURCE = SensorSource("/t", "f")


def preset(presets: Any, kind: Any, **changes: Any) -> Any:
    """A sensor of the first preset with other numbers."""
    return kind.model_validate({**presets.tree(sorted(presets.names())[0]), **changes})


# rays


def test_beams_of_a_lidar_go_by_azimuth_and_elevation() -> None:
    lidar = preset(
        LIDARS,
        LidarSpec,
        azimuth_deg=[-90.0, 90.0],
        columns=3,
        elevation_deg=[-30.0, 30.0],
        channels=3,
    )
    ways, channels = beams(lidar)
    h, v = np.sqrt(0.75), 0.5
    expected = [
        [0, -h, -v],
        [0, -1, 0],
        [0, -h, v],
        [h, 0, -v],
        [1, 0, 0],
        [h, 0, v],
        [0, h, -v],
        [0, 1, 0],
        [0, h, v],
    ]
    np.testing.assert_allclose(ways, expected, atol=1e-12)
    assert channels.tolist() == [0, 1, 2] * 3
    pattern = pattern_of(lidar)
    assert pattern.shape == (3, 3) and pattern.start == lidar.range_min
    np.testing.assert_allclose(
        pattern.bundle.ways_S[0], [0, h, v], atol=1e-7
    )  # above and on the left
    np.testing.assert_allclose(
        pattern.bundle.starts_S, lidar.range_min * pattern.bundle.ways_S, atol=1e-6
    )
    np.testing.assert_allclose(pattern.bundle.reach, lidar.range_max - lidar.range_min)
    np.testing.assert_allclose(pattern.axis_S, [1.0, 0.0, 0.0], atol=1e-12)
    assert pattern.half == pytest.approx(np.pi / 2)


def test_a_whole_turn_does_not_show_its_first_column_twice() -> None:
    turn = preset(
        LIDARS,
        LidarSpec,
        azimuth_deg=[-180.0, 180.0],
        columns=4,
        elevation_deg=[0.0, 0.0],
        channels=1,
    )
    np.testing.assert_allclose(
        beams(turn)[0][:, :2], [[-1, 0], [0, -1], [1, 0], [0, 1]], atol=1e-12
    )
    assert pattern_of(turn).half == pytest.approx(np.pi)


@pytest.mark.parametrize("projection", ["pinhole", "equidistant"])
def test_pixels_of_a_depth_camera_look_where_its_projection_says(projection: str) -> None:
    """A pinhole's pixel at the tangents (x, y); a fisheye's at an angle of their length."""
    fisheye = (
        {}
        if projection == "pinhole"
        else {"baseline": 0.0, "disparity_noise_deg": 0.0, "outputs": ["segmentation"]}
    )
    camera = preset(DEPTH_CAMERAS, DepthCameraSpec, projection=projection, **fisheye)
    pattern = pattern_of(camera)
    (fx, fy), (cx, cy) = camera.focal, camera.center
    row, column = 3, camera.width - 5
    x, y = (column - cx) / fx, (row - cy) / fy
    way = pattern.bundle.ways_S[row * camera.width + column]
    cosine = pattern.cosines[row * camera.width + column]
    if projection == "pinhole":
        np.testing.assert_allclose(way / way[2], [x, y, 1.0], rtol=1e-5)
        assert cosine == pytest.approx(way[2], rel=1e-5)
    else:
        angle = np.hypot(x, y)
        np.testing.assert_allclose(
            way, [np.sin(angle) * x / angle, np.sin(angle) * y / angle, np.cos(angle)], atol=1e-6
        )
        assert cosine == 1.0
    assert pattern.shape == (camera.height, camera.width)
    np.testing.assert_allclose(pattern.bundle.reach, camera.range_max / pattern.cosines, rtol=1e-5)


# errors of ranges

ERRORS = RangeErrors(
    near=0.5, far=10.0, constant=0.1, share=0.02, square=0.003, dropout=0.0, resolution=0.0
)


def measured(
    distances: list[float], draws: float = 0.0, hidden: bool = False, **changes: Any
) -> list[float]:
    """Measurements of distances beyond a start of 0.2 m under a cosine of 0.5; every normal deviate is `draws`."""
    count = len(distances)
    face = np.where(np.isfinite(distances), 0, noise.NO_FACE)
    hits = SimpleNamespace(distance=np.array(distances, np.float32), face=face)
    out, table = np.zeros(count, np.float32), np.full(2**noise.BITS, draws, np.float32)
    noise.measure.py_func(
        hits,
        np.full(count, hidden),
        0.2,
        np.full(count, 0.5),
        ERRORS._replace(**changes),
        np.uint64(7),
        table,
        out,
    )
    return out.tolist()


def test_a_range_has_the_deviation_of_its_equation_and_is_limited() -> None:
    with np.errstate(over="ignore"):
        assert measured([7.8, 0.7, np.inf, 19.9]) == [4.0, -np.inf, np.inf, np.inf]
        sigma = 0.1 + 0.02 * 4.0 + 0.003 * 16.0
        assert measured([7.8], draws=1.5) == pytest.approx([4.0 + 1.5 * sigma])
        assert measured([7.8], hidden=True) == pytest.approx([np.nan], nan_ok=True)
        assert measured([1.0], draws=-1.5) == [-np.inf]  # noise has brought it below the least
        assert measured([19.7], draws=2.0) == [np.inf]
        assert measured([7.8, 7.9, 8.1], resolution=0.25) == [4.0, 4.0, 4.25]
        assert np.isnan(measured([7.8] * 2000, dropout=0.3)).mean() == pytest.approx(0.3, abs=0.04)


def test_a_lidars_noise_grows_with_range_and_a_stereo_cameras_with_its_square() -> None:
    lidar = preset(LIDARS, LidarSpec, noise=0.01, noise_share=0.02, dropout=0.1, resolution=0.002)
    assert RangeErrors.of(lidar) == (lidar.range_min, lidar.range_max, 0.01, 0.02, 0.0, 0.1, 0.002)
    camera = preset(DEPTH_CAMERAS, DepthCameraSpec, noise=0.01, dropout=0.1, resolution=0.002)
    expected = (camera.range_min, camera.range_max, 0.01, 0.0, camera.parallax_noise, 0.1, 0.002)
    assert RangeErrors.of(camera) == expected


# samples


@pytest.mark.parametrize(
    ("requested", "steps", "rate", "every"),
    [(100.0, 200.0, 100.0, 2), (90.0, 200.0, 100.0, 2), (80.0, 200.0, 200.0 / 3.0, 3), (500.0, 200.0, 200.0, 1),
     (30.0, 200.0, 200.0 / 7.0, 7)],
)  # fmt: skip
def test_the_nearest_rate_that_steps_allow_is_taken(
    requested: float, steps: float, rate: float, every: int
) -> None:
    assert nearest_rate(requested, steps) == (pytest.approx(rate), every)
    sampling = Sampling.of(requested, steps, "imu")
    assert [k for k in range(15) if sampling.is_due(k)] == list(range(0, 15, every))
    assert (sampling.note == "") == (rate == requested)
    assert (
        sampling.note == ""
        or sampling.note.startswith("imu: ")
        and f"every {every} control steps" in sampling.note
    )


# simple sensors


def test_the_earths_field_dips_and_is_declined_and_turns_with_the_sensor() -> None:
    magnet = MagnetometerSpec(
        rate=10.0, strength=5e-5, inclination_deg=60.0, declination_deg=30.0, noise=0.0, bias=0.0
    )
    level = 5e-5 * 0.5
    field = [level * 0.5, level * np.sqrt(0.75), -5e-5 * np.sqrt(0.75)]
    np.testing.assert_allclose(magnet.field_W, field)
    unit, q = (
        Magnetometer(magnet, np.random.default_rng(1)),
        so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2])),
    )
    np.testing.assert_allclose(unit.measure(q), [field[1], -field[0], field[2]], atol=1e-18)
    noisy = magnet.model_copy(update={"noise": 1e-6, "bias": 2e-6})
    biases = [Magnetometer(noisy, np.random.default_rng(k)) for k in range(300)]
    samples = (
        np.array(
            [[each.measure(np.array([0.0, 0.0, 0.0, 1.0])) for _ in range(20)] for each in biases]
        )
        - field
    )
    assert samples.mean(axis=1).std() == pytest.approx(
        np.hypot(2e-6, 1e-6 / np.sqrt(20.0)), rel=0.05
    )
    assert samples.std(axis=1).mean() == pytest.approx(1e-6, rel=0.05)


def test_a_barometer_has_an_offset_a_walk_and_steps() -> None:
    """ICAO: 898.75 hPa at 1000 m."""
    assert standard_pressure(np.array([0.0, 1000.0])) == pytest.approx(
        [101_325.0, 89_874.6], rel=1e-5
    )
    spec_ = BarometerSpec(
        mount="m", rate=25.0, altitude=0.0, noise=0.0, walk=0.0, bias=0.0, resolution=0.0
    )

    def runs(**changes: float) -> np.ndarray:
        made = spec_.model_copy(update=changes)
        units = [Barometer(SOURCE, made, 25.0, np.random.default_rng(k)) for k in range(400)]
        return np.array([[unit.measure(1e5) for _ in range(26)] for unit in units]) - 1e5

    assert not runs().any()
    offsets = runs(bias=20.0)
    assert offsets.std() == pytest.approx(20.0, rel=0.1) and not np.ptp(offsets, axis=1).any()
    walks = runs(walk=3.0)
    assert not walks[:, 0].any() and walks[:, 25].std() == pytest.approx(
        3.0, rel=0.1
    )  # after one second
    assert runs(noise=5.0).std() == pytest.approx(5.0, rel=0.05)
    stepped = Barometer(
        SOURCE, spec_.model_copy(update={"resolution": 4.0}), 25.0, np.random.default_rng(0)
    )
    assert [stepped.measure(x) for x in (101.9, 102.1, 105.9)] == [100.0, 104.0, 104.0]


def test_a_receivers_drift_fades_with_its_memory_and_keeps_its_size() -> None:
    datum = Datum(latitude_deg=50.0, longitude_deg=8.0, altitude=100.0)
    spec_ = GnssSpec(
        mount="m", rate=10.0, datum=datum, drift_horizontal=2.0, drift_vertical=4.0, memory=0.5,
        noise_horizontal=0.0, noise_vertical=0.0,
    )  # fmt: skip
    off = np.array(
        [
            [r.errors() for _ in range(6)]
            for r in (Receiver(SOURCE, spec_, 10.0, np.random.default_rng(k)) for k in range(1500))
        ]
    )
    np.testing.assert_allclose(off.std(axis=0), np.tile([2.0, 2.0, 4.0], (6, 1)), rtol=0.08)
    for lag in (1, 5):
        alike = (off[:, 0] * off[:, lag]).mean(axis=0) / off[:, 0].var(axis=0)
        np.testing.assert_allclose(alike, np.exp(-0.1 * lag / 0.5), atol=0.06)
    white = spec_.model_copy(
        update={
            "drift_horizontal": 0.0,
            "drift_vertical": 0.0,
            "noise_horizontal": 1.0,
            "noise_vertical": 3.0,
        }
    )
    unit = Receiver(SOURCE, white, 10.0, np.random.default_rng(3))
    np.testing.assert_allclose(
        np.array([unit.errors() for _ in range(3000)]).std(axis=0), [1.0, 1.0, 3.0], rtol=0.06
    )
    exact = Receiver(
        SOURCE,
        white.model_copy(update={"noise_horizontal": 0.0, "noise_vertical": 0.0}),
        10.0,
        np.random.default_rng(3),
    )
    fix = exact.fix(1.5, np.array([30.0, -40.0, 5.0]))
    assert fix.t == 1.5
    assert fix.place == pytest.approx(
        geodetic(np.array([30.0, -40.0, 5.0]), Geodetic(50.0, 8.0, 100.0))
    )


# views


def test_a_projection_puts_edges_and_depths_at_the_ends_of_clip_space() -> None:
    view = PinholeView(8, 6, np.array([[4.0, 0.0, 3.0], [0.0, 5.0, 2.0], [0.0, 0.0, 1.0]]), 0.0)
    left, right, upper, lower = view.edges
    assert (left, right, upper, lower) == pytest.approx((-3.5 / 4, 4.5 / 4, -2.5 / 5, 3.5 / 5))
    clip = view.projection(0.5, 20.0)
    for x, y, z, expected in (
        (left, upper, 0.5, (-1.0, -1.0, -1.0)), (right, lower, 20.0, (1.0, 1.0, 1.0)),
    ):  # fmt: skip
        point = clip @ [x * z, y * z, z, 1.0]
        np.testing.assert_allclose(point[:3] / point[3], expected)
    q = so3.quaternion_exp(np.array([0.3, -0.2, 0.5]))
    place = np.array([1.0, 2.0, 3.0])
    planes = view.planes((place, q), 0.5, 20.0)
    np.testing.assert_allclose(np.linalg.norm(planes[:, :3], axis=1), 1.0)

    def inside(x: float, y: float, z: float) -> list[bool]:
        p = place + so3.rotate(q, np.array([x * z, y * z, z]))
        return (planes[:, :3] @ p >= planes[:, 3]).tolist()

    assert inside(0.1, 0.1, 5.0) == [True] * 6
    outside = (
        (left - 0.01, 0.0, 5.0),
        (right + 0.01, 0.0, 5.0),
        (0.0, upper - 0.01, 5.0),
        (0.0, lower + 0.01, 5.0),
        (0.0, 0.0, 0.49),
        (0.0, 0.0, 20.1),
    )
    for k, point in enumerate(outside):
        assert inside(*point) == [j != k for j in range(6)]
    np.testing.assert_allclose(
        camera_of_map(place, q) @ [*(place + so3.rotate(q, np.array([0.0, 0.0, 2.0]))), 1.0],
        [0, 0, 2, 1],
        atol=1e-12,
    )


def test_a_cameras_place_goes_on_by_its_velocities() -> None:
    one = shot(
        spec(),
        (1.0, 2.0, 3.0),
        v_WC_W=np.array([1.0, 0.0, -2.0]),
        w_WC_W=np.array([0.0, 0.0, 0.5]),
    )
    assert place_at(one, 0.0) == (one.p_WC_W, one.q_WC)
    p, q = place_at(one, 0.2)
    np.testing.assert_allclose(p, [1.2, 2.0, 2.6])
    np.testing.assert_allclose(
        q, so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, 0.1])), one.q_WC)
    )


def test_instants_are_spread_evenly_over_the_exposure() -> None:
    assert list(instants(Exposure(time=0.4, samples=4))) == pytest.approx(
        [-0.15, -0.05, 0.05, 0.15]
    )
    assert list(instants(Exposure(time=0.4))) == [0.0]


def test_rows_are_exposed_one_after_another_around_the_middle() -> None:
    np.testing.assert_allclose(Exposure(line_time=0.1).row_times(4), [-0.15, -0.05, 0.05, 0.15])
    assert not Exposure().row_times(3).any()


@pytest.mark.parametrize(("channels", "shape"), [(1, (2, 3)), (3, (2, 3, 3))])
def test_a_cameras_geometry_has_its_pixels_and_angles(
    channels: int, shape: tuple[int, ...]
) -> None:
    def unproject(pixels: np.ndarray) -> np.ndarray:
        xy = (pixels - [1.0, 0.5]) / 4.0
        return np.concatenate([xy, np.ones((*xy.shape[:-1], 1))], -1)

    geometry = CameraGeometry(3, 2, (4.0, 4.0), (1.0, 0.5), 20.0, channels, (), unproject)
    assert geometry.shape == shape
    assert geometry.pixels[1, 2].tolist() == [2, 1]
    np.testing.assert_allclose(geometry.tangents[1], np.hypot([-0.25, 0.0, 0.25], 0.125))


def test_each_effect_draws_from_a_key_of_its_own() -> None:
    image = CameraImage(np.zeros((2, 2), np.float32), None, 0.0, Exposure(), None, np.uint64(5))
    keys = [int(image.drawn_key()) for _ in range(3)]
    key = 5
    for each in keys:
        key = (key * 6364136223846793005 + 1442695040888963407) % 2**64
        assert each == key
    assert image.channels == 1


# films


def film(outputs: tuple[str, ...]) -> Film:
    return Film(shot(spec(outputs=outputs, width=4, height=2)))


def test_a_film_needs_what_the_outputs_are_made_of() -> None:
    for outputs, look, needs_range in (
        (("mono8",), "mono", False),
        (("rgb8", "mono8"), "color", False),
        (("depth",), None, True),
        (("mono8", "segmentation"), "mono", True),
    ):
        made = film(outputs)
        assert (made.look, made.needs_range) == (look, needs_range)


def test_depth_and_labels_of_nothing_are_infinite_and_zero() -> None:
    made = film(("depth", "segmentation"))
    ranges = np.zeros((2, 4, 2), np.float32)
    ranges[0, 1] = [2.5, 7.0]
    made.take("range", ranges)
    frame = made.frame()
    assert frame.depth is not None and frame.labels is not None and frame.mono is None
    assert frame.depth[0, 1] == 2.5 and np.isinf(frame.depth).sum() == 7
    assert frame.labels[0, 1] == 7 and frame.labels.sum() == 7


def test_grey_is_the_luminance_of_colours() -> None:
    made = film(("rgb8", "mono8"))
    image = np.zeros((2, 4, 3), np.uint8)
    image[:] = [100, 200, 50]
    made.take("color", image, made.pieces[0])
    frame = made.frame()
    assert frame.mono is not None and frame.mono[0, 0] == round(
        0.299 * 100 + 0.587 * 200 + 0.114 * 50
    )
    np.testing.assert_array_equal(frame.rgb, image)
