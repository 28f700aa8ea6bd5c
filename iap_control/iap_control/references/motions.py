# SPDX-License-Identifier: BSD-3-Clause
"""The reference motions that a scenario can name: the suite's, a recorded command, and a user's own."""

from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Discriminator, Tag, model_validator

from iap_control.references.excitation import Excitation
from iap_control.references.ned_motions import Circle, FigureEight, Ramps
from iap_control.references.poses_and_lines import Hover, Lemniscate, Line, Moves, Spiral
from iap_control.references.velocity_steps import VelocitySteps
from iap_description.arrays import Array
from iap_description.config.plugins import load_class
from iap_description.config.record import Record, type_of, validate
from iap_description.errors import BadInput
from iap_io.trajectories.conventions import WrenchFrame, WrenchUse
from iap_io.trajectories.pose_reading import PoseReading


class Replay(PoseReading):
    """A recorded command, and how it is read.

    Attributes:
        path: of the recording.
        actual_topic: of what the real aircraft did.
        wrench_topic: of the wrenches that were commanded.
        wrench_use: ``feed_forward``: beside the feedback to the poses, in place of the model's own; ``open_loop``:
            alone. By default the former where there are poses.
        actual_wrench_topic: of the wrenches that the environment exerted, as they were measured.
        wrench_frame: whose axes recorded wrenches are in; None as frame_id says.
    """

    type: Literal["replay"]
    path: str
    actual_topic: str | None = None
    wrench_topic: str | None = None
    wrench_use: WrenchUse | None = None
    actual_wrench_topic: str | None = None
    wrench_frame: WrenchFrame | None = None


class CustomMotion(BaseModel):
    """A motion of the user's own: `type` is ``module:Class``, the other keys are that record's.

    The class is a `Record` like those above, with a field `type: str`, a length `duration` [s], and
    `rows(t)`, reference rows (T, 19) at times (T,) [s].
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    type: str

    @model_validator(mode="after")
    def _is_a_motion(self) -> Self:
        _ = self.motion
        return self

    @cached_property
    def motion(self) -> Any:  # noqa: ANN401 - the user's
        """The user's record.

        Raises:
            BadInput: there is no such class, or its keys are not those given.
        """
        kind = load_class(self.type, ("rows",), key="reference.type")
        if not issubclass(kind, Record):
            raise BadInput(f"key 'reference.type': class '{self.type}' is no Record of keys")
        return validate(kind, self.model_dump(), source=self.type, prefix="reference")

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self.motion.duration)

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        return np.asarray(self.motion.rows(t))


CUSTOM = "module:Class"  # tag of a motion of the user's own


def kind_of(tree: Any) -> str | None:  # noqa: ANN401 - YAML until it is validated, then a record
    """The tag of a tree or a record among the motions below."""
    kind = type_of(tree)
    return CUSTOM if isinstance(kind, str) and ":" in kind else kind


Tagged = (
    Annotated[Hover, Tag("hover")]
    | Annotated[Spiral, Tag("spiral")]
    | Annotated[Circle, Tag("circle")]
    | Annotated[Ramps, Tag("ramps")]
    | Annotated[FigureEight, Tag("figure_eight")]
    | Annotated[Lemniscate, Tag("lemniscate")]
    | Annotated[Line, Tag("line")]
    | Annotated[Moves, Tag("moves")]
    | Annotated[VelocitySteps, Tag("velocity_steps")]
    | Annotated[Excitation, Tag("excitation")]
    | Annotated[CustomMotion, Tag(CUSTOM)]
)
KIND = Discriminator(kind_of)
Motion = Annotated[Tagged, KIND]
MotionOrReplay = Annotated[Tagged | Annotated[Replay, Tag("replay")], KIND]
