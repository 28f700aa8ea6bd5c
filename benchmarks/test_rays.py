# SPDX-License-Identifier: BSD-3-Clause
"""Speed of images by rays, and their agreement with OpenGL's.

Scenes have 83 boxes, about 1 000 triangles, of their own in each world. Two cores are taken by two processes, each with
half of the worlds, or by two threads, which share the interpreter between casts.
"""

import multiprocessing
import os
import sys
import time

import numpy as np
import pytest
import trimesh

from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds

WORLDS, CROWD = 64, 256  # in each process, and among objects that move
BOXES = {"boxes": {"preset": "boxes", "count": 83, "area": [[-8.0, -8.0], [8.0, 8.0]]}}
SIZE = {"width": 64, "height": 48, "range_max": 20.0}
EXACT = {"baseline": 0.0, "disparity_noise_deg": 0.0, "dropout": 0.0, "resolution": 0.0}
NOISY = {**EXACT, "noise": 0.02, "dropout": 0.01, "resolution": 0.001}
CASES = {  # keys, outputs, and what is needed of a core [images/s]; None: nothing
    "depth": (EXACT, ["depth"], 2500.0),
    "depth, segmentation, noise": (NOISY, ["depth", "segmentation"], 1750.0),
    "depth, segmentation, faces, labels, normals": (
        EXACT,
        ["depth", "segmentation", "faces", "labels", "normals"],
        None,
    ),
    "depth with the second imager's shadow": ({}, ["depth"], None),
}
ROUNDS, SECONDS = 40, 4.0
SIDE = {"preset": "walls", "seed": 0, "count": 1, "free": [], "yaw_deg": [0.0, 0.0]}
LONG, DEEP = [[10.0, 0.1, 5.0]] * 2, [[0.1, 10.0, 5.0]] * 2  # sizes of the sides of a room [m]
ROOM = {
    "boxes": {"preset": "boxes", "count": 15, "area": [[-4.5, -4.5], [4.5, 4.5]]},
    "left": {**SIDE, "size": LONG, "area": [[0.0, 5.0]] * 2},
    "right": {**SIDE, "size": LONG, "area": [[0.0, -5.0]] * 2},
    "front": {**SIDE, "size": DEEP, "area": [[5.0, 0.0]] * 2},
    "back": {**SIDE, "size": DEEP, "area": [[-5.0, 0.0]] * 2},
}
TOGETHER = {"depth": 5000.0, "depth, segmentation, noise": 3500.0}  # of two cores by wall clock
BUSY = 1.5  # load above which wall clocks are not read: the benchmark itself is 1


def camera_of(case, seeds=range(WORLDS), threads=1):
    keys, outputs, _ = CASES[case]
    settings = {"world.objects": BOXES, "draw.position": 0.5}
    worlds = Worlds.of("hover", seeds, settings=settings, threads=threads)
    camera = WorldRaySensor.of(worlds, "d455", outputs, **SIZE, **keys)
    camera.images()
    return camera


@pytest.mark.parametrize("case", CASES)
def test_rays_of_a_core(benchmark, figure, case):
    """Images a second of a core's own time."""
    camera, best = camera_of(case), []

    def timed():
        began = time.process_time()
        camera.images()
        best.append(time.process_time() - began)

    benchmark.pedantic(timed, rounds=ROUNDS, warmup_rounds=2)
    figure(case, WORLDS / min(best), "images 64x48 a second of a core", bar=CASES[case][2])


@pytest.mark.parametrize("subdivisions", [1, 2])  # 80 and 320 triangles each
def test_rays_at_objects_that_move(benchmark, figure, tmp_path, subdivisions):
    """Whole images among 20 meshes that move, beside the same ones at rest, in a core's own time."""
    file = tmp_path / "ball.stl"
    trimesh.creation.icosphere(subdivisions, radius=0.5).export(file)
    cameras = {moves: _among_meshes(file, moves=moves) for moves in (False, True)}
    best = dict.fromkeys(cameras, np.inf)

    def both():
        for moves, camera in cameras.items():
            camera.worlds.advance()
            began = time.process_time()
            camera.images()
            best[moves] = min(best[moves], time.process_time() - began)

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=1)
    still, moving = (CROWD / best[moves] for moves in (False, True))
    what = f"{CROWD} worlds, 20 meshes of {20 * 4**subdivisions} triangles"
    figure(f"{what} that move", moving, "images 64x48 a second of a core")
    figure(f"{what} that stand", still, "images 64x48 a second of a core")
    figure(f"{what}, moving over standing", 100.0 * moving / still, "%", bar=70)


def _among_meshes(file, *, moves):
    """A camera in worlds whose seeds place 20 meshes before it."""
    mesh = {
        "type": "mesh",
        "file": str(file),
        "position": [5.0, 0.0, 2.0],
        "surface": {"friction": 0.5, "restitution": 0.0},
    }
    keys = {"draw.object_position": [4.0, 5.0, 2.0]}
    if moves:
        mesh["motion"] = {"type": "sine", "amplitude": [0.0, 1.0, 0.0], "period": 4.0}
        keys["draw.motion_shift"] = 4.0
    keys["world.objects"] = {f"mesh_{k}": mesh for k in range(20)}
    worlds = Worlds.of("hover", CROWD, settings=keys, platform="f450", sensors="none")
    camera = WorldRaySensor.of(worlds, "d455", ["depth"], **SIZE, **EXACT)
    camera.images()
    return camera


@pytest.mark.parametrize("case", TOGETHER)
def test_rays_of_two_processes(benchmark, figure, case):
    """Wall clock; of use on a machine with nothing else to do."""
    if os.getloadavg()[0] > BUSY:
        pytest.skip(f"the machine is busy: load {os.getloadavg()[0]:.1f}")
    start = multiprocessing.get_context("spawn")
    ready, counts = start.Barrier(2), start.Queue()
    workers = [start.Process(target=_work, args=(case, k, ready, counts)) for k in range(2)]

    def together():
        for each in workers:
            each.start()
        rates = [counts.get() for _ in workers]
        for each in workers:
            each.join()
        return sum(rates)

    rate = benchmark.pedantic(together, rounds=1)
    figure(f"{case}, two processes", rate, "images 64x48 a second", bar=TOGETHER[case])


@pytest.mark.parametrize("case", TOGETHER)
def test_rays_of_two_threads(benchmark, figure, case):
    """Wall clock again."""
    if os.getloadavg()[0] > BUSY:
        pytest.skip(f"the machine is busy: load {os.getloadavg()[0]:.1f}")
    cameras = {threads: camera_of(case, range(2 * WORLDS), threads) for threads in (1, 2)}
    best = dict.fromkeys(cameras, np.inf)

    def both():
        for threads, camera in cameras.items():
            began = time.perf_counter()
            camera.images()
            best[threads] = min(best[threads], time.perf_counter() - began)

    benchmark.pedantic(both, rounds=ROUNDS)
    rate, gain = 2 * WORLDS / best[2], best[1] / best[2]
    figure(f"{case}, two threads", rate, "images 64x48 a second")
    figure(f"{case}, two threads over one", gain, "", 2)


@pytest.mark.parametrize(
    ("rows", "columns", "count"),
    [
        *((8, 8, 2**k) for k in range(7, 12)),
        *((64, 64, 2**k) for k in range(7, 12)),
        (270, 480, 128),
        (480, 640, 128),
    ],
)
def test_rays_in_a_room_under_control(benchmark, figure, rows, columns, count):
    """Sizes and room of aerial_gym TABLE II: depth and labels of each world after a control period, on all cores."""
    threads = os.cpu_count() or 1
    worlds = Worlds.of("hover", count, settings={"world.objects": ROOM}, threads=threads)
    size = {"width": columns, "height": rows, "range_max": 20.0}
    camera = WorldRaySensor.of(worlds, "d455", ["depth", "segmentation"], **size, **EXACT)

    def step():
        worlds.advance()
        camera.images()

    benchmark.pedantic(step, rounds=5, warmup_rounds=1)
    rate = count / benchmark.stats.stats.min
    figure(f"{rows}x{columns}, {count} worlds", rate, f"images/s, {threads} threads")


def _work(case, number, ready, counts):
    """Take images for some seconds, as long as the other does, and tell the rate."""
    camera = camera_of(case, range(WORLDS * number, WORLDS * (number + 1)))
    ready.wait()
    began, taken = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        camera.images()
        taken += WORLDS
    counts.put(taken / (time.perf_counter() - began))


def test_rays_of_new_worlds(benchmark, figure):
    """Cost of a reset: obstacles are drawn anew, and their scene is built."""
    camera = camera_of("depth")
    seeds = iter(range(1000, 10**9))

    def anew():
        camera.worlds.reset(None, [next(seeds) for _ in range(WORLDS)])
        camera.images()

    benchmark.pedantic(anew, rounds=5)
    took, triangles = benchmark.stats.stats.min, len(camera.rays(0).surface.corners)
    what = f"a world of {triangles} triangles, drawn, built and seen"
    figure(what, 1e3 * took / WORLDS, "ms", 1)


@pytest.mark.parametrize(
    ("preset", "output"), [("os0_128", "range"), ("os1_64", "range"), ("d455", "depth")]
)
def test_rays_of_whole_sensors(benchmark, figure, preset, output):
    """A preset as it is, one world."""
    worlds = Worlds.of("hover", 1, settings={"world.objects": BOXES})
    camera = WorldRaySensor.of(worlds, preset, [output])
    benchmark.pedantic(camera.images, rounds=10, warmup_rounds=1)
    rows, columns = camera.sensor.pattern.shape
    took = benchmark.stats.stats.min
    figure(f"{preset}, {columns}x{rows}", 1e3 * took, "ms", 1)
    figure(f"{preset}, rays", 1e-6 * rows * columns / took, "M rays/s", 1)


@pytest.mark.parametrize("scene", ["textured_walls", "building_cluster", "bright_arena"])
def test_rays_and_opengl(benchmark, figure, scene):
    """Depth of the same camera by rays and by OpenGL, wherever both see something."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "support"))
    from depths_by_both import cast, rendered

    (seen, labels), (depth, segments) = rendered(scene), benchmark.pedantic(cast, args=(scene,))
    both = np.isfinite(seen) & np.isfinite(depth)
    off, same = np.abs(depth / seen - 1.0)[both], (labels == segments)[both]
    figure(f"{scene}: pixels within 1 %", 100.0 * np.mean(off < 0.01), "%", 3, bar=99.9)
    figure(f"{scene}: median difference", 100.0 * np.median(off), "%", 5)
    figure(f"{scene}: labels equal", 100.0 * same.mean(), "%", 2)
