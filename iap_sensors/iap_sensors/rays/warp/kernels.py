# SPDX-License-Identifier: BSD-3-Clause
"""The rays of many worlds as one kernel of Warp's, a thread for each: the twin of `images` and `noise` on a GPU.

Poses are turned in double numbers and rays cast in single ones, as on the CPU.
"""

# Warp reads the annotations of kernels as its types.
# mypy: ignore-errors

from iap_sensors.rays.warp.library import wp

SKIN = wp.constant(wp.float32(1e-5))  # as `iap_sensors.rays.embree.SKIN`
LAYERS = wp.constant(64)  # of solids that a ray may leave at most
UNIT = wp.constant(wp.float64(2.0**-32))
STEP = wp.constant(wp.uint64(0x9E3779B97F4A7C15))
FIRST = wp.constant(wp.uint64(0xBF58476D1CE4E5B9))
SECOND = wp.constant(wp.uint64(0x94D049BB133111EB))
MASK = wp.constant(wp.uint64(2**14 - 1))
NAN = wp.constant(wp.float32(float("nan")))
ABOVE_RANGE = wp.constant(wp.float32(float("inf")))  # nothing is within range (REP 117)
BELOW_RANGE = wp.constant(wp.float32(float("-inf")))  # something is nearer


@wp.struct
class Shapes:
    """Meshes with the number of their first face in the table that says which faces close solids."""

    mesh: wp.array(dtype=wp.uint64)
    first: wp.array(dtype=wp.int32)


@wp.struct
class MovingMeshes:
    """Moving meshes, of all worlds alike: meshes, radii [m], whether hidden, poses (B, M) in `map`."""

    mesh: wp.array(dtype=wp.uint64)
    first: wp.array(dtype=wp.int32)
    radius: wp.array(dtype=wp.float64)
    hidden: wp.array(dtype=wp.int32)
    p: wp.array2d(dtype=wp.vec3d)
    R: wp.array2d(dtype=wp.mat33d)


@wp.struct
class Sensor:
    """Rays in S, and errors: see `Pattern` and `Errors`; a second imager where the baseline is not 0."""

    starts: wp.array(dtype=wp.vec3f)
    ways: wp.array(dtype=wp.vec3f)
    reach: wp.array(dtype=wp.float32)
    cosines: wp.array(dtype=wp.float64)
    table: wp.array(dtype=wp.float32)
    start: wp.float64
    near: wp.float64
    far: wp.float64
    constant: wp.float64
    share: wp.float64
    square: wp.float64
    dropout: wp.float64
    resolution: wp.float64
    baseline: wp.float64
    half_width: wp.float64
    clear: wp.float64


@wp.struct
class Outputs:
    """Arrays (B, n); those of no row are not wanted."""

    depth: wp.array2d(dtype=wp.float32)
    ranges: wp.array2d(dtype=wp.float32)
    points: wp.array2d(dtype=wp.vec3f)
    normals: wp.array2d(dtype=wp.vec3f)
    segmentation: wp.array2d(dtype=wp.uint16)
    faces: wp.array2d(dtype=wp.int32)


@wp.func
def mixed(state: wp.uint64) -> wp.uint64:
    """SplitMix64, see `iap_sensors.pixel_noise.mixed`."""
    z = (state ^ (state >> wp.uint64(30))) * FIRST
    z = (z ^ (z >> wp.uint64(27))) * SECOND
    return z ^ (z >> wp.uint64(31))


@wp.func
def first_hit(
    mesh: wp.uint64,
    first: int,
    solid: wp.array(dtype=wp.uint8),
    start: wp.vec3f,
    way: wp.vec3f,
    reach: wp.float32,
):
    """Distance, face and normal of the first hit; face -1 where there is none."""
    passed = wp.float32(0.0)
    face_hit = wp.int32(-1)  # a number that may change, to Warp
    normal = wp.vec3f(0.0, 0.0, 0.0)
    distance = reach
    for _ in range(LAYERS):
        hit = wp.mesh_query_ray(mesh, start + passed * way, way, reach - passed)
        if not hit.result:
            break
        if solid[first + hit.face] == wp.uint8(1) and wp.dot(hit.normal, way) > 0.0:
            passed = passed + hit.t + SKIN
        else:
            face_hit = hit.face
            normal = hit.normal
            distance = passed + hit.t
            break
    return distance, face_hit, normal


@wp.func
def is_near(
    p: wp.vec3d, way: wp.vec3d, reach: wp.float64, center: wp.vec3d, radius: wp.float64
) -> bool:
    """True if a ray comes as near to a point as a radius."""
    to_center = center - p
    along = wp.clamp(wp.dot(to_center, way), wp.float64(0.0), reach)
    away = to_center - along * way
    return wp.dot(away, away) <= radius * radius


@wp.func
def single(v: wp.vec3d) -> wp.vec3f:
    """In single numbers."""
    return wp.vec3f(wp.float32(v[0]), wp.float32(v[1]), wp.float32(v[2]))


@wp.func
def double(v: wp.vec3f) -> wp.vec3d:
    """In double numbers."""
    return wp.vec3d(wp.float64(v[0]), wp.float64(v[1]), wp.float64(v[2]))


@wp.func
def is_blocked(
    world: wp.uint64,
    bodies: MovingMeshes,
    b: int,
    p_W: wp.vec3d,
    way_W: wp.vec3d,
    reach: wp.float64,
) -> bool:
    """True if anything is in the way of a ray, from either side."""
    if wp.mesh_query_ray(world, single(p_W), single(way_W), wp.float32(reach)).result:
        return True
    for m in range(bodies.mesh.shape[0]):
        center = bodies.p[b, m]
        if bodies.hidden[m] == 0 and is_near(p_W, way_W, reach, center, bodies.radius[m]):
            R_BW = wp.transpose(bodies.R[b, m])
            start, way = single(R_BW * (p_W - center)), single(R_BW * way_W)
            if wp.mesh_query_ray(bodies.mesh[m], start, way, wp.float32(reach)).result:
                return True
    return False


@wp.func
def measured(sensor: Sensor, i: int, distance: wp.float32, key: wp.uint64) -> wp.float32:
    """The sensor's measurement of a point that both imagers see, see `iap_sensors.rays.noise.measure`."""
    m = (sensor.start + wp.float64(distance)) * sensor.cosines[i]
    z = mixed(key + STEP * wp.uint64(i + 1))
    if m < sensor.near:
        return BELOW_RANGE
    if wp.float64(z >> wp.uint64(32)) * UNIT < sensor.dropout:
        return NAN
    sigma = sensor.constant + m * (sensor.share + m * sensor.square)
    m = m + sigma * wp.float64(sensor.table[int(z & MASK)])
    if sensor.resolution > wp.float64(0.0):
        m = wp.floor(m / sensor.resolution + wp.float64(0.5)) * sensor.resolution
    if m < sensor.near:
        return BELOW_RANGE
    if m > sensor.far:
        return ABOVE_RANGE
    return wp.float32(m)


@wp.func
def nearest(
    worlds: Shapes,
    bodies: MovingMeshes,
    solid: wp.array(dtype=wp.uint8),
    faces_before: wp.array2d(dtype=wp.int32),
    b: int,
    p_W: wp.vec3d,
    way_W: wp.vec3d,
    reach: wp.float32,
):
    """Distance, face, its entry in tables and normal in `map` of the first hit in world b, of what stands or moves."""
    start, way = single(p_W), single(way_W)
    distance, face, normal = first_hit(worlds.mesh[b], worlds.first[b], solid, start, way, reach)
    entry = worlds.first[b] + face
    for m in range(bodies.mesh.shape[0]):
        center, radius = bodies.p[b, m], bodies.radius[m]
        is_met = is_near(p_W, way_W, wp.float64(distance), center, radius)
        if bodies.hidden[m] == 0 and is_met:
            R_BW = wp.transpose(bodies.R[b, m])
            nearer, face_hit, across = first_hit(
                bodies.mesh[m],
                bodies.first[m],
                solid,
                single(R_BW * (p_W - center)),
                single(R_BW * way_W),
                distance,
            )
            if face_hit >= 0:
                distance = nearer
                face = faces_before[b, m] + face_hit
                entry = bodies.first[m] + face_hit
                normal = single(bodies.R[b, m] * double(across))
    return distance, face, entry, normal


@wp.func
def is_shaded(
    worlds: Shapes,
    bodies: MovingMeshes,
    sensor: Sensor,
    b: int,
    p_WS_W: wp.vec3d,
    R_WS: wp.mat33d,
    point_S: wp.vec3d,
) -> bool:
    """True if the second imager does not see a point, or there is one and the point is beyond its image."""
    zero, one = wp.float64(0.0), wp.float64(1.0)
    if sensor.baseline == zero:
        return False
    aside = wp.vec3d(sensor.baseline, zero, zero)
    to_point = point_S - aside
    if wp.abs(to_point[0]) > sensor.half_width * to_point[2]:
        return True
    length = wp.length(to_point)
    reach = length - sensor.clear * wp.max(one, length)
    second_W = p_WS_W + R_WS * aside
    return is_blocked(worlds.mesh[b], bodies, b, second_W, R_WS * (to_point / length), reach)


@wp.func
def towards_sensor(normal: wp.vec3f, way: wp.vec3f, face: int) -> wp.vec3f:
    """A normal of unit length that looks against a ray; NaN where the ray hits nothing."""
    if face < 0:
        return wp.vec3f(NAN, NAN, NAN)
    unit = wp.normalize(normal)
    if wp.dot(unit, way) > 0.0:
        return -unit
    return unit


@wp.func
def label_at(segments: wp.array(dtype=wp.uint16), face: int, entry: int) -> wp.uint16:
    """Label of a face in segmented images; 0 where the ray hits nothing."""
    if face < 0:
        return wp.uint16(0)
    return segments[entry]


@wp.kernel
def take(
    worlds: Shapes,
    bodies: MovingMeshes,
    solid: wp.array(dtype=wp.uint8),
    segments: wp.array(dtype=wp.uint16),
    faces_before: wp.array2d(dtype=wp.int32),
    sensor: Sensor,
    p_WS_W: wp.array(dtype=wp.vec3d),
    R_WS: wp.array(dtype=wp.mat33d),
    keys: wp.array(dtype=wp.uint64),
    out: Outputs,
):
    """Cast ray i of world b, and write what is wanted of it. A kernel: it takes its arrays one by one."""
    b, i = wp.tid()
    p, R, way_S = p_WS_W[b], R_WS[b], double(sensor.ways[i])
    p_W, way_W = p + R * double(sensor.starts[i]), R * way_S
    distance, face, entry, normal = nearest(
        worlds, bodies, solid, faces_before, b, p_W, way_W, sensor.reach[i]
    )
    value = ABOVE_RANGE
    if face >= 0:
        value = measured(sensor, i, distance, keys[b])
        if is_shaded(worlds, bodies, sensor, b, p, R, wp.float64(distance) * way_S):
            value = NAN
    along = wp.float32(wp.float64(value) / sensor.cosines[i])
    if out.depth.shape[0] > 0:
        out.depth[b, i] = value
    if out.ranges.shape[0] > 0:
        out.ranges[b, i] = along
    if out.points.shape[0] > 0:
        if not wp.isfinite(along):
            along = NAN
        out.points[b, i] = along * sensor.ways[i]
    if out.normals.shape[0] > 0:
        out.normals[b, i] = towards_sensor(normal, single(way_W), face)
    if out.segmentation.shape[0] > 0:
        out.segmentation[b, i] = label_at(segments, face, entry)
    if out.faces.shape[0] > 0:
        out.faces[b, i] = face
