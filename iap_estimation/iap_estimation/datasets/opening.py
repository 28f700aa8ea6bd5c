# SPDX-License-Identifier: BSD-3-Clause
"""`open_dataset`: whatever a path holds, as a data set."""

from dataclasses import dataclass
from pathlib import Path

from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput
from iap_estimation.datasets.bag_source import NO_TRUTH, TruthPoses, open_bag
from iap_estimation.datasets.bag_topics import TopicNames
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.euroc_source import HOME, open_euroc
from iap_estimation.datasets.fleet_bag_source import open_fleet_bag
from iap_estimation.datasets.range_bag_source import open_range_bag
from iap_estimation.datasets.run_source import open_run
from iap_io.bags.storage_files import is_bag_file, storage_files
from iap_io.runs.topics import BAG, META

METADATA = "metadata.yaml"


@dataclass(frozen=True)
class Choices:
    """Options of a user for a data set.

    Attributes:
        vehicle: of a run with several.
        topics: of a bag that is not this suite's.
        calibration: ``sensor.yaml`` of each camera, the left one first, and of the inertial unit if there is one more,
            in place of a bag's CameraInfo and /tf_static.
        truth: topic of poses of the inertial unit in a bag, and which of its bodies and frames.
        mapping: YAML file that explains a bag of ranges, or of several aircraft; see `range_bag_source` and
            `fleet_bag_source`.
    """

    vehicle: str | None = None
    topics: TopicNames = TopicNames()
    calibration: tuple[Path, ...] = ()
    truth: TruthPoses = NO_TRUTH
    mapping: Path | None = None

    @property
    def is_of_images(self) -> bool:
        """True if any of it is about a foreign bag with images."""
        return self.topics != TopicNames() or bool(self.calibration) or self.truth != NO_TRUTH

    @property
    def is_of_bag(self) -> bool:
        """True if any of it is about a foreign bag."""
        return self.is_of_images or self.mapping is not None


def open_dataset(path: Path, choices: Choices | None = None) -> SensorDataset:
    """A run folder of this suite, a folder in EuRoC's layout, or a bag of ROS 1 or 2.

    Raises:
        BadInput: it is none, or cannot be used.
    """
    choices = choices or Choices()
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    if _is_bag(path):
        if choices.mapping is not None:
            return _mapped(path, choices.mapping, choices)
        return open_bag(path, choices.topics, choices.calibration, choices.truth)
    if choices.is_of_bag:
        raise BadInput(
            f"{path}: not a bag: --left, --right, --imu, --calibration, --truth, --body, --frame, --map are for bags"
        )
    if path.is_dir() and (path / BAG / METADATA).exists():
        return open_run(path, choices.vehicle)
    if path.name == BAG and _is_run_bag(path):
        return open_run(path.parent, choices.vehicle)
    if path.name == HOME or (path / HOME).is_dir():
        return open_euroc(path)
    homes = sorted(str(each.parent) for each in path.glob(f"*/{HOME}")) if path.is_dir() else []
    if homes:
        raise BadInput(
            f"{path}: several data sets in EuRoC's layout; choose one: {', '.join(homes)}"
        )
    raise BadInput(f"{path}: not a data set: no run folder, no folder with {HOME}, no bag")


def _mapped(path: Path, mapping: Path, choices: Choices) -> SensorDataset:
    """A bag whose mapping is of ranges, or of several aircraft."""
    if choices.is_of_images:
        raise BadInput(
            f"{path}: --map says it all: no --left, --right, --imu, --calibration, --truth, --body, --frame"
        )
    is_of_aircraft = "aircraft" in read_yaml(mapping)
    return (open_fleet_bag if is_of_aircraft else open_range_bag)(path, mapping)


def _is_bag(path: Path) -> bool:
    """True if it is a bag of somebody else's."""
    if path.is_file():
        return is_bag_file(path)
    if not path.is_dir() or not ((path / METADATA).exists() or storage_files(path)):
        return False
    return not (path.name == BAG and _is_run_bag(path))


def _is_run_bag(bag: Path) -> bool:
    """True if a bag says that it is part of a run of this suite."""
    try:
        return META in (bag / METADATA).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
