# SPDX-License-Identifier: BSD-3-Clause
"""The services of simulation_interfaces about what is in a simulation, where that package is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Twist, Vector3

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_description.states import P, Q, V, W
from iap_description.vehicles.platform import load_platform, platform_names
from iap_io.ros.conversions import stamp_message
from iap_io.ros.node import SuiteNode
from iap_io.wire.stamps import stamp_of_time
from iap_physics.nodes.standard_services.entities import Entities, Entity
from iap_physics.nodes.standard_services.results import msg, ok, result, srv
from iap_physics.nodes.standard_services.time_services import Controls
from iap_physics.session.placement import moved, obstacle_to_placement, place
from iap_physics.session.session import Session

FRAMES = ("", MAP, "world")  # of states that are set
UNIT = 1e-3  # largest difference of a quaternion's length from 1
INVALID_POSE = 101  # of SetEntityState


class EntityServices:
    """The services about what is in a session, in the namespace of a node."""

    def __init__(self, node: SuiteNode, session: Session, controls: Controls) -> None:
        self._session, self._controls = session, controls
        self._entities = Entities(session)
        answers: dict[str, tuple[Any, Callable[..., Any]]] = {
            "get_entities": (srv.GetEntities, self._names),
            "get_entity_state": (srv.GetEntityState, self._entity_state),
            "get_entities_states": (srv.GetEntitiesStates, self._entities_states),
            "get_entity_info": (srv.GetEntityInfo, self._info),
            "get_entity_bounds": (srv.GetEntityBounds, self._bounds),
            "set_entity_state": (srv.SetEntityState, self._set_entity_state),
            "get_spawnables": (srv.GetSpawnables, self._spawnables),
            "get_current_world": (srv.GetCurrentWorld, self._world),
        }
        for name, (kind, answer) in answers.items():
            node.create_service(kind, name, answer)

    def _names(
        self, request: srv.GetEntities.Request, response: srv.GetEntities.Response
    ) -> srv.GetEntities.Response:
        response.result, entities = self._filtered(request.filters)
        response.entities = [each.name for each in entities]
        return response

    def _entities_states(
        self, request: srv.GetEntitiesStates.Request, response: srv.GetEntitiesStates.Response
    ) -> srv.GetEntitiesStates.Response:
        response.result, entities = self._filtered(request.filters)
        response.entities = [each.name for each in entities]
        response.states = [self._message_of(each) for each in entities]
        return response

    def _filtered(self, filters: msg.EntityFilters) -> tuple[msg.Result, list[Entity]]:
        try:
            return ok(), self._entities.filtered(filters)
        except NotImplementedError as error:
            return result(msg.Result.RESULT_FEATURE_UNSUPPORTED, str(error)), []
        except BadInput as error:
            return result(msg.Result.RESULT_OPERATION_FAILED, str(error)), []

    def _entity_state(
        self, request: srv.GetEntityState.Request, response: srv.GetEntityState.Response
    ) -> srv.GetEntityState.Response:
        entity, response.result = self._entity(request.entity)
        if entity is not None:
            response.state = self._message_of(entity)
        return response

    def _info(
        self, request: srv.GetEntityInfo.Request, response: srv.GetEntityInfo.Response
    ) -> srv.GetEntityInfo.Response:
        entity, response.result = self._entity(request.entity)
        if entity is not None:
            response.info.category.category = entity.category
            response.info.description = entity.description
            response.info.tags = list(entity.tags)
        return response

    def _bounds(
        self, request: srv.GetEntityBounds.Request, response: srv.GetEntityBounds.Response
    ) -> srv.GetEntityBounds.Response:
        entity, response.result = self._entity(request.entity)
        if entity is not None:
            lower, upper = self._entities.box(entity).tolist()
            response.bounds.type = msg.Bounds.TYPE_BOX  # whose points begin with the upper corner
            response.bounds.points = [Vector3(x=x, y=y, z=z) for x, y, z in (upper, lower)]
        return response

    def _entity(self, name: str) -> tuple[Entity | None, msg.Result]:
        try:
            return self._entities[name], ok()
        except BadInput as error:
            return None, result(msg.Result.RESULT_NOT_FOUND, str(error))

    def _message_of(self, entity: Entity) -> msg.EntityState:
        """The state of an entity; accelerations stay 0."""
        x, out = self._entities.state(entity), msg.EntityState()
        out.header.frame_id = MAP
        out.header.stamp = stamp_message(stamp_of_time(self._session.t))
        place_, turn = out.pose.position, out.pose.orientation
        place_.x, place_.y, place_.z = map(float, x[P])
        turn.x, turn.y, turn.z, turn.w = map(float, x[Q])
        for vector, values in ((out.twist.linear, x[V]), (out.twist.angular, x[W])):
            vector.x, vector.y, vector.z = map(float, values)
        return out

    def _set_entity_state(
        self, request: srv.SetEntityState.Request, response: srv.SetEntityState.Response
    ) -> srv.SetEntityState.Response:
        entity, response.result = self._entity(request.entity)
        if entity is not None:
            response.result = self._put(entity, request)
        return response

    def _put(self, entity: Entity, request: srv.SetEntityState.Request) -> msg.Result:
        results, frame = msg.Result, request.state.header.frame_id
        if not self._controls.is_paused:
            return result(results.RESULT_INCORRECT_STATE, "not paused")
        if not entity.is_vehicle:
            return result(results.RESULT_OPERATION_FAILED, f"{entity.name}: not a whole vehicle")
        if frame not in FRAMES:
            return result(results.RESULT_OPERATION_FAILED, f"frame '{frame}': {MAP} is expected")
        pose, twist = _pose_of(request.state.pose), _twist_of(request.state.twist)
        sets_pose, sets_twist = what_is_set(request)
        values = [pose] * sets_pose + [twist] * sets_twist
        length = float(np.linalg.norm(pose[Q]))
        if not np.isfinite(np.concatenate([*values, [0.0]])).all():
            return result(INVALID_POSE, "not a number")
        if sets_pose and abs(length - 1.0) > UNIT:
            return result(INVALID_POSE, f"the quaternion has a length of {length:.3g}")
        pose[Q] /= length or 1.0
        return self._place(entity, pose if sets_pose else None, twist if sets_twist else None)

    def _place(self, entity: Entity, pose: Array | None, twist: Array | None) -> msg.Result:
        """Put a vehicle elsewhere, as one rigid body."""
        reason = obstacle_to_placement(self._session)
        if reason:
            return result(msg.Result.RESULT_OPERATION_FAILED, reason)
        assert entity.vehicle is not None
        plant = self._session.plant
        rows = plant.engine.state()[0].copy()
        at = plant.propulsion[entity.vehicle].rows
        rows[at] = moved(rows[at], pose, twist)
        try:
            place(self._session, rows)
        except BadInput as error:
            return result(INVALID_POSE, str(error))
        self._controls.show()
        return ok()

    def _spawnables(
        self, request: srv.GetSpawnables.Request, response: srv.GetSpawnables.Response
    ) -> srv.GetSpawnables.Response:
        """The platforms that the key `platform` of a scenario takes; none is spawned in flight."""
        for name in platform_names():
            each = msg.Spawnable(description=load_platform(name).description)
            resource_of(each).uri = name
            response.spawnables.append(each)
        unknown = ", ".join(request.sources)
        response.result = ok()
        response.result.error_message = f"unknown sources: {unknown}" if unknown else ""
        return response

    def _world(
        self, _: srv.GetCurrentWorld.Request, response: srv.GetCurrentWorld.Response
    ) -> srv.GetCurrentWorld.Response:
        world = self._session.spec.world
        response.world.name = world.scene or "open field"
        objects = ", ".join(world.objects) or "no objects"
        response.world.description = f"gravity {world.gravity:g} m/s^2, {objects}"
        response.world.world_resource.resource_string = str(world.model_dump(mode="json"))
        response.result = ok()
        return response


def what_is_set(request: Any) -> tuple[bool, bool]:  # noqa: ANN401 - SetEntityState.Request
    """Flags of the pose and the twist that are set; requests before version 2.1 have none, and set both."""
    return getattr(request, "set_pose", True), getattr(request, "set_twist", True)


def resource_of(spawnable: Any) -> Any:  # noqa: ANN401 - Spawnable
    """The message with the `uri` of a spawnable: its resource, or itself before version 2.1."""
    return getattr(spawnable, "entity_resource", spawnable)


def _pose_of(pose: Pose) -> Array:
    """(7,) position and quaternion."""
    p, q = pose.position, pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])


def _twist_of(twist: Twist) -> Array:
    v, w = twist.linear, twist.angular
    return np.array([v.x, v.y, v.z, w.x, w.y, w.z])
