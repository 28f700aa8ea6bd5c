# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of values in files: their ends are taken where they belong to them, and what is just beyond is refused."""

from importlib import import_module
from typing import Annotated, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

RANGES = {  # by module:Type, or module:Record and key; a round bracket is an end that is left out
    ("iap_bringup.teleop.mappings:StickLimits", "tilt_deg"): "(0, 80]",
    ("iap_bringup.teleop.mappings:JoystickMapping", "dead_zone"): "[0, 1)",
    ("iap_description.config.values:BelowOne", ""): "[0, 1)",
    ("iap_description.config.values:Share", ""): "[0, 1]",
    ("iap_description.config.values:Count", ""): f"[1, {2**31 - 1}]",
    ("iap_description.config.values:Seed", ""): f"[0, {2**62}]",
    ("iap_description.config.values:Magnitude", ""): "[1e-9, 1e6]",
    ("iap_description.config.values:Length", ""): "[1e-5, 1e5]",
    ("iap_description.config.values:Mass", ""): "[1e-6, 1e6]",
    ("iap_description.config.values:Hertz", ""): "[1e-3, 1e6]",
    ("iap_description.config.values:Coordinate", ""): "[-1e6, 1e6]",
    ("iap_description.scenes.lighting:AirLength", ""): "[0.1, 1e6]",
    ("iap_description.scenes.lighting:Lamp", "flux"): "[1e-9, 1e12]",
    ("iap_estimation.frontend.spec:Cells", ""): "[1, 1000]",
    ("iap_estimation.virpo.spec:VirpoSpec", "keyframes"): "[1, 200]",
    ("iap_io.trajectories.pose_reading:CutoffFrequency", ""): "[0.01, 1000]",
    ("iap_learning.tasks.late_sensors:DelayPeriods", ""): "[0, 2000]",
    ("iap_learning.training.networks:LearningRate", ""): "[1e-9, 1]",
    ("iap_learning.training.ppo:Deviation", ""): "[1e-6, 1e6]",
    ("iap_learning.training.ppo:PPO", "epochs"): "[1, 1000]",
    ("iap_sensors.camera_effects.image_sensor:Temperature", ""): "[-100, 150]",
    ("iap_sensors.camera_effects.image_sensor:ImageSensorSpec", "doubling"): "[1, 1000]",
    ("iap_sensors.cameras.spec:CameraSpec", "exposure"): "[-30, 30]",
    ("iap_sensors.inertial.imu:Vibration", "lines"): "[1, 1000]",
    ("iap_sensors.mounted.barometer:BarometerSpec", "altitude"): "[-1000, 11000]",
    ("iap_description.scenes.lighting:Degrees90", ""): "[-90, 90]",
    ("iap_description.scenes.lighting:TimeOfDay", "hour"): "[0, 24)",
    ("iap_description.scenes.lighting:TimeOfDay", "day"): "[1, 366]",
    ("iap_description.scenes.lighting:TimeOfDay", "rate"): "[0, 3600]",
    ("iap_description.scenes.lighting:Lamp", "temperature"): "[1000, 20000]",
    ("iap_description.scenes.lighting:Lamp", "cone_deg"): "[5, 150]",
    ("iap_description.scenes.lighting:PathTracing", "spp"): "[1, 65536]",
    ("iap_description.scenes.lighting:Weather", "turbidity"): "[1.2, 10]",
    ("iap_description.scenes.lighting:Weather", "dust"): "[0, 100000]",
    ("iap_description.scenes.lighting:Weather", "rain"): "[0, 150]",
    ("iap_description.scenes.lighting:Weather", "snowfall"): "[0, 20]",
    ("iap_description.scenes.mesh_part:Triangles", ""): "[4, 20000000]",
    ("iap_description.scenes.solid_parts:GroundPart", "patches"): "[1, 64]",
    ("iap_description.sensors.sensor_info:Size", ""): "[1, 8192]",
    ("iap_description.vehicles.autopilot_gains:AutopilotGains", "rotor_lead"): "[1, 10]",
    ("iap_description.vehicles.faults:Rotor", ""): "[1, 4]",
    ("iap_description.vehicles.joint_spec:Travel", ""): "(0, 180)",
    ("iap_description.vehicles.ports:Segments", ""): "[6, 128]",
    ("iap_description.vehicles.rotor:RotorTilt", "limit_deg"): "(0, 180]",
    ("iap_description.vehicles.rotor:RotorModel", "thrust_factor"): "(0, 1]",
    ("iap_description.vehicles.rotor:RotorModel", "rpm_max"): "(0, 1000000]",
    ("iap_description.world.objects:Segments", ""): "[6, 128]",
    ("iap_description.world.obstacles:Obstacles", "count"): "[1, 20000]",
    ("iap_description.world.obstacles:Trees", "branches"): "[0, 100]",
    ("iap_estimation.frontend.spec:Side", ""): "[5, 63]",
    ("iap_estimation.frontend.spec:Level", ""): "[0, 6]",
    ("iap_estimation.frontend.spec:FrontendSpec", "quality"): "(0, 1)",
    ("iap_estimation.frontend.spec:FrontendSpec", "likeness"): "(0, 1)",
    ("iap_io.runs.run_meta:RecordingSettings", "jpeg_quality"): "[1, 100]",
    ("iap_sensors.camera_effects.auto_exposure:InnerShare", ""): "(0, 1)",
    ("iap_sensors.camera_effects.auto_exposure:AutoExposureSpec", "speed"): "(0, 1]",
    ("iap_sensors.camera_effects.auto_exposure:AutoExposureSpec", "delay"): "[0, 32]",
    ("iap_sensors.camera_effects.colors:Response", ""): "(0, 1]",
    ("iap_sensors.camera_effects.depth_errors:DepthErrorsSpec", "lateral_noise"): "[0, 8]",
    ("iap_sensors.camera_effects.exposure:Decibels", ""): "[0, 60]",
    ("iap_sensors.camera_effects.exposure:Transmission", ""): "(0, 1]",
    ("iap_sensors.camera_effects.image_sensor:QuantumEfficiency", ""): "(0, 1]",
    ("iap_sensors.camera_effects.image_sensor:ImageSensorSpec", "temperature"): "[-100, 150]",
    ("iap_sensors.camera_effects.image_sensor:ImageSensorSpec", "bits"): "[1, 16]",
    ("iap_sensors.camera_effects.lens_drops:LensDropsSpec", "count"): "[1, 1000]",
    ("iap_sensors.camera_effects.lens_drops:LensDropsSpec", "radius"): "[1, 1000]",
    ("iap_sensors.camera_effects.lens_drops:LensDropsSpec", "wideness"): "[1, 20]",
    ("iap_sensors.camera_effects.lens_errors:Term", ""): "[-0.1, 0.1]",
    ("iap_sensors.camera_effects.shutter:MotionBlurSpec", "samples"): "[2, 64]",
    ("iap_sensors.camera_effects.shutter:RollingShutterSpec", "bands"): "[1, 1024]",
    ("iap_sensors.camera_effects.shutter:FlickerSpec", "frequency"): "(0, 100000]",
    ("iap_sensors.camera_effects.stray_light:Magnification", ""): "[-5, 5]",
    ("iap_sensors.camera_effects.stray_light:GlareSpec", "levels"): "[1, 8]",
    ("iap_sensors.cameras.spec:Blur", "samples"): "[2, 64]",
    ("iap_sensors.cameras.spec:CameraSpec", "vignetting"): "[0, 1)",
    ("iap_sensors.inertial.magnetometer:MagnetometerSpec", "inclination_deg"): "(-90, 90)",
    ("iap_sensors.mounted.gnss:Datum", "latitude_deg"): "[-90, 90]",
    ("iap_sensors.mounted.gnss:Datum", "longitude_deg"): "[-180, 180]",
    ("iap_sensors.rays.depth_camera_spec:Angle", ""): "(0, 360]",
    ("iap_simulation.identification.settings:Settings", "alpha"): "[0, 1)",
    ("iap_simulation.scenario.modules:_Chain", "count"): "[1, 8]",
}


def value_of(place, key):
    """A check of one value, and its type."""
    module, name = place.split(":")
    found = getattr(import_module(module), name)
    if key:
        field = found.model_fields[key]
        found = Annotated[field.annotation, *field.metadata]
    return TypeAdapter(found), int if get_args(found)[0] is int else float


@pytest.mark.parametrize(("place", "key"), RANGES, ids=lambda each: each.rpartition(":")[2])
def test_ends_are_taken_or_refused_and_what_is_beyond_is_refused(place, key):
    check, kind = value_of(place, key)
    text = RANGES[place, key]
    ends = [kind(end) for end in text[1:-1].split(",")]
    for end, out, bracket in zip(ends, (-1, 1), (text[0], text[-1]), strict=True):
        step = out if kind is int else 0.01 * out * (abs(end) or 1.0)
        inside, beyond = (end, end + step) if bracket in "[]" else (end - step, end)
        assert check.validate_python(inside) == inside
        with pytest.raises(ValidationError):
            check.validate_python(beyond)
