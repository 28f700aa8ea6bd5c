# SPDX-License-Identifier: BSD-3-Clause
"""The resolved scenario of an arm's flight on an identified plant."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from iap_control.arm.tip_paths import PathOfTip
from iap_control.laws.end_effector import BASE, EndEffectorGains
from iap_control.references.timeline import MAX_DURATION
from iap_description.config.bounds import MAX_RATE
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import (
    FileName,
    Flag,
    NonNegative,
    Positive,
    Presets,
    Real,
    Record,
    Vec3,
    merged,
    override,
    validate,
)
from iap_description.vehicles.arm import load_arm
from iap_physics.identified.dynamics import JOINTS

ARM_SCENARIOS = Presets(Path(__file__).parents[1] / "data" / "arm_scenarios", "arm scenario")
PLANT = "plant"  # the key by which such a scenario is known
WHOLE = 1e-9  # of a ratio of rates


class Rates(Record):
    """Rates of the loop."""

    plant_hz: Annotated[Positive, Field(le=MAX_RATE)]
    control_hz: Positive

    @model_validator(mode="after")
    def _fit(self) -> Self:
        ratio = self.plant_hz / self.control_hz
        if ratio < 1.0 or abs(ratio - round(ratio)) > WHOLE:
            raise ValueError(
                f"key 'rates': plant_hz is a whole multiple of control_hz, {self.control_hz}"
                f" (got {self.plant_hz})"
            )
        return self


class Start(Record):
    """Place at which the platform is at rest at t = 0."""

    position: Vec3  # [m]
    yaw_deg: Real
    joints_deg: tuple[Real, ...]


class Draw(Record):
    """Half-widths of even draws about the start, by the flight's seed."""

    position: tuple[NonNegative, NonNegative, NonNegative]  # [m]
    yaw_deg: NonNegative
    joints_deg: NonNegative  # of each joint


class Control(EndEffectorGains):
    """The law, and what becomes of its velocities."""

    static_inverse: Flag

    @property
    def law(self) -> EndEffectorGains:
        """The law's own part."""
        return EndEffectorGains(**self.model_dump(exclude={"static_inverse"}))


class Metrics(Record):
    """Settings by which a flight is judged."""

    settle: NonNegative  # [s]
    published_rmse: tuple[Positive, ...]  # of recorded flights, beside which this one is shown [m]


class ArmScenario(Record):
    """Everything that a flight needs, nothing implied."""

    scenario: FileName
    description: str
    plant: str
    arm: str
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    duration: Annotated[Positive, Field(lt=MAX_DURATION)]
    rates: Rates
    noise: NonNegative
    start: Start
    draw: Draw
    path: PathOfTip
    control: Control
    metrics: Metrics
    compare: dict[FileName, tuple[str, ...]]

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return 1.0 / self.rates.control_hz

    @property
    def plant_steps(self) -> int:
        """Steps of the plant in a control period."""
        return round(self.rates.plant_hz / self.rates.control_hz)

    @model_validator(mode="after")
    def _arm_fits_the_plant(self) -> Self:
        counts = {
            "arm": len(load_arm(self.arm).joints),
            "start.joints_deg": len(self.start.joints_deg),
            "control.weights": len(self.control.weights) - BASE,
        }
        for key, count in counts.items():
            if count != JOINTS:
                raise ValueError(f"key '{key}': the plant has {JOINTS} joints (got {count})")
        if self.metrics.settle >= self.duration:
            raise ValueError(
                f"key 'metrics.settle': ends before duration, {self.duration} s"
                f" (got {self.metrics.settle})"
            )
        return self


def is_arm_scenario(name: str) -> bool:
    """True if a scenario's name, or the YAML file at a path, is one of an identified plant.

    Raises:
        BadInput: a file that is not YAML.
    """
    if name in ARM_SCENARIOS.names():
        return True
    path = Path(name)
    return path.suffix in (".yaml", ".yml") and path.is_file() and PLANT in _tree(path)


def resolve_arm(
    name: str,
    assignments: tuple[str, ...] = (),
    *,
    seed: int | None = None,
    duration: float | None = None,
) -> tuple[ArmScenario, dict[str, Any]]:
    """Resolve a scenario by name or path; also returns the plain tree that a run's folder keeps.

    Args:
        name: of the scenario, or a path.
        assignments: each ``dotted.path=YAML value``.
        seed: of the noise; None is the scenario's own.
        duration: of the flight [s]; None is the scenario's own.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    path = ARM_SCENARIOS.file_or_path(name)
    own = {"seed": seed, "duration": duration}
    tree = {"scenario": path.stem, **_tree(path)}
    tree |= {key: value for key, value in own.items() if value is not None}
    tree = override(tree, list(assignments))
    return validate(ArmScenario, tree, source=str(path)), tree


def _tree(path: Path, heirs: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A scenario's tree on top of the one that its key `extends` names, if that is one of an arm."""
    tree = read_yaml(path)
    base = tree.pop("extends", None)
    if base not in ARM_SCENARIOS.names() or ARM_SCENARIOS.file(base) in (*heirs, path):
        return tree if base is None else {**tree, "extends": base}
    return merged(_tree(ARM_SCENARIOS.file(base), (*heirs, path)), tree)
