# SPDX-License-Identifier: BSD-3-Clause
"""Keys that are right by themselves and do not fit others are refused by name; beside the limit they are taken."""

from typing import Any

import pytest
import yaml
from flying import scenario_of
from refusals import refusal

from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import Options, resolve, resolve_again

SEEING: dict[str, Any] = {"sensors": "stereo", "scene": "textured_walls"}
DEPTH: dict[str, Any] = {"sensors": "depth_rays", "scene": "textured_walls"}
BY_NAME = "control.yaw=reference"
EFFECTS = "sensors.cameras.left.effects"
PICTURE = "sensors.cameras.left.outputs"


def trees(count: int) -> str:
    sizes = "radius: [0.1, 0.2], height: [2.0, 3.0], reach: [0.2, 0.3]"
    area = "area: [[-500.0, -500.0], [500.0, 500.0]]"
    return f"world.objects={{t: {{type: trees, count: {count}, branches: 9, {sizes}, {area}}}}}"


def rod(plate: float) -> str:
    """A rod of 0.1 m with a plate of some thickness."""
    tip = f"tip: {{type: plate, size: [{plate}, 0.2, 0.2]}}"
    place = "position: [0.0, 0.0, 0.0], rpy_deg: [0.0, 0.0, 180.0]"
    surface = "surface: {friction: 0.4, restitution: 0.0}"
    return f"platform.tool={{type: rod, length: 0.1, radius: 0.02, {tip}, {place}, {surface}}}"


@pytest.mark.parametrize(
    ("name", "options", "refused", "words", "taken"),
    [
        ("hover", {}, ["control.aircraft_yaw_deg=[0.0, 0.0, 0.0]"], "goes with yaw: reference, and only with it",
         [BY_NAME, "control.aircraft_yaw_deg=[0.0, 0.0, 0.0]"]),
        ("hover", {}, [BY_NAME, "control.aircraft_yaw_deg=[0.0, 0.0]"], "3 headings are needed, not 2", []),
        ("hover", {}, ["metrics.window=[2.0, 1.0]"], "key 'window': its first time, 2 s, is after its last, 1 s",
         ["metrics.window=[1.0, 1.0]"]),
        ("wall_push", {}, ["control.observer=acceleration"], "acceleration needs sensors.imu", []),
        ("hover", {}, ["wind.turbulence=1.0"], "gusts drift with the wind and need a 'speed' > 0",
         ["wind.turbulence=1.0", "wind.speed=0.1"]),
        ("docking", {}, ["docking.success.calm_time=4.0", "docking.success.settle=4.0"],
         "'calm_time': 4 s is no less than settle, 4 s",
         ["docking.success.calm_time=3.9", "docking.success.settle=4.0"]),
        ("hover", {}, ["faults=[{at: 1.0, commands_late: 0.002}]"], "0.002 s is no control period of 0.005 s",
         ["faults=[{at: 1.0, commands_late: 0.003}]"]),
        ("docking", {}, ["latches.dock.probe=chaser/nothing"], "'chaser' has no port 'nothing'", []),
        ("docking", {}, ["vehicles.1.name=target"], "key 'vehicles': names must differ, are target, target", []),
        ("hover", {}, [trees(2001)], "trees have more than 20000 trunks and branches", [trees(2000)]),
        ("velocity_steps", {}, ["reference.duration=400001.0"], "'duration': more than 100000 steps of 4.0 s",
         ["reference.duration=400000.0"]),
        ("hover", SEEING, ["sensors.cameras.left.vignetting=0.1", f"{EFFECTS}={{vignetting: {{}}}}"],
         "key 'vignetting': 'effects.vignetting' takes its place", [f"{EFFECTS}={{vignetting: {{}}}}"]),
        ("hover", SEEING, [f"{EFFECTS}={{vignetting: {{polynomial: [-1.1, 0.0, 0.0]}}}}"],
         "leaves less than no light somewhere", [f"{EFFECTS}={{vignetting: {{polynomial: [-0.9, 0.0, 0.0]}}}}"]),
        ("hover", SEEING, [f"{EFFECTS}={{lens_flare: {{ghosts: [0.5, 0.0]}}}}"], "a magnification is 0",
         [f"{EFFECTS}={{lens_flare: {{ghosts: [0.5, -0.1]}}}}"]),
        ("hover", SEEING, [f"{PICTURE}=[segmentation]", f"{EFFECTS}={{vignetting: {{}}}}"],
         "neither image nor depth among the outputs", [f"{PICTURE}=[rgb8]", f"{EFFECTS}={{vignetting: {{}}}}"]),
        ("hover", SEEING, [f"{EFFECTS}={{auto_exposure: {{time_min: 0.0011, time_max: 0.001}}}}"],
         "key 'time_min': 0.0011 s is above time_max, 0.001 s", []),
        ("hover", DEPTH, ["sensors.depth_camera.hfov_deg=180.0"], "a pinhole sees less than 180 deg",
         ["sensors.depth_camera.hfov_deg=179.0"]),
        ("hover", DEPTH, ["sensors.depth_camera.projection=equidistant", "sensors.depth_camera.baseline=0.05"],
         "only pinholes measure by stereo", []),
        ("hover", DEPTH, ["sensors.depth_camera.projection=equidistant", "sensors.depth_camera.outputs=[depth]",
                          "sensors.depth_camera.baseline=0.0", "sensors.depth_camera.disparity_noise_deg=0.0"],
         "a fisheye measures along its rays, and gives no depth", []),
        ("hover", {"platform": "f450"}, ["platform.aircraft.inertia=[0.01, 0.01, 0.0]"],
         "principal moments must be positive, are 0, 0.01, 0.01", []),
        ("hover", {"platform": "f450"}, ["platform.aircraft.inertia=[0.01, 0.01, 0.0201]"],
         "breaks the triangle inequality, 0.01 + 0.01 < 0.0201 kg m^2",
         ["platform.aircraft.inertia=[0.01, 0.01, 0.0199]"]),
        ("arm_pick", {}, ["platform.arm.joints.0.axis=[0.0, 0.0, 0.0]"], "'axis': a direction is expected", []),
        ("arm_pick", {}, ["platform.arm.joints.0.limits=[1.0, 1.0]"], "the lowest first, then the highest", []),
        ("peg_in_hole", {}, ["world.objects.funnel.mouth_radius=0.044"], "0.044 is below throat_radius 0.045",
         ["world.objects.funnel.mouth_radius=0.046"]),
        ("hover", {}, [rod(0.1)], "is no thinner than the rod is long", [rod(0.09)]),
    ],
)  # fmt: skip
def test_keys_that_do_not_fit_are_refused_by_name_and_those_that_do_are_taken(
    name: str, options: dict[str, Any], refused: list[str], words: str, taken: list[str]
) -> None:
    assert words in refusal(scenario_of, name, *refused, engine="pybullet", **options)
    if taken:
        assert scenario_of(name, *taken, engine="pybullet", **options).vehicles


@pytest.mark.parametrize(("sensors", "scene", "blamed"), [
    (None, "moon", "--scene moon: key 'world.scene'"),
    ("moon", None, "--sensors moon: no sensors"),
])  # fmt: skip
def test_an_option_that_changes_a_recorded_run_is_blamed_in_place_of_its_file(
    sensors, scene, blamed, tmp_path
):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(resolve("hover", Options())[1]), encoding="utf-8")
    with pytest.raises(BadInput, match=f"^{blamed}"):
        resolve_again(path, sensors=sensors, scene=scene)
