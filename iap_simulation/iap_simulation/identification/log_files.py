# SPDX-License-Identifier: BSD-3-Clause
"""Logs from files: MATLAB files of aerial_manipulator, comma-separated values, and this suite's run folders."""

import warnings
import zlib
from itertools import dropwhile
from pathlib import Path
from typing import Any, Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.config.text_files import CUT, read_bytes, read_text, reason_of
from iap_description.errors import BadInput, shown
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.states import REF_Q, REF_V, REF_W, Mode, Q, V, W
from iap_io.runs.columns import ArmColumns
from iap_io.runs.run_reader import RunReader
from iap_io.trajectories.number_words import is_number
from iap_io.trajectories.table_columns import cells_of
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.log import SI, Log, LogUnits, make_log
from iap_simulation.identification.log_columns import columns_of

Clock = Literal["measured", "nominal"]
OLD_LOG = "flight.csv"  # of an arm's flight in run folders of the version before
SPIKE = 2.0  # step of a velocity that no aircraft or arm makes from one sample to the next [m/s, rad/s]
MAX_UNPACKED = 1 << 28  # bytes of a MATLAB file's variables
MAT_HEADER, MAT_COMPRESSED = (
    128,
    15,
)  # bytes before the first variable, and the kind of a packed one
PIECE = 1 << 20  # bytes unpacked at once
COMMANDS = dict(
    zip(CHANNELS, ("ul", "um", "un", "w", "q1p", "q2p", "q3p"), strict=True)
)  # names of MATLAB files
PLAIN = {"w": "psi_p", "q1_p": "q1_p", "q2_p": "q2_p", "q3_p": "q3_p", "u_n": "zu_p"}


def read_log(path: Path, clock: Clock = "nominal", units: LogUnits = SI) -> Log:
    """A log by the path of its file or run folder.

    Args:
        path: ``.mat``, ``.csv``, or a run folder.
        clock: of MATLAB files: the loop times that were measured, or the nominal period.
        units: of CSV files.

    Raises:
        BadInput: not such a file, or a channel that is missing, of another length, or not finite.
    """
    check_log_exists(path)
    if path.is_dir():
        return read_run(path)
    if path.suffix == ".mat":
        return read_matlab(path, clock)
    if path.suffix == ".csv":
        columns = columns_of(str(path), *read_csv(path), units)
        in_units = columns.in_units or units != SI
        return make_log(
            path.stem, str(path), columns.signals, in_units=in_units, notes=columns.notes
        )
    raise BadInput(f"{path}: .mat, .csv or a run folder is expected")


def check_log_exists(path: Path) -> None:
    """Refuse a path where nothing is.

    Raises:
        BadInput: naming it.
    """
    if not (path.is_dir() or path.is_file()):
        raise BadInput(f"{path}: no such log")


def read_matlab(path: Path, clock: Clock) -> Log:
    """A log as the flights of aerial_manipulator were kept, MATLAB v5.

    Velocities are those of the world, and psi is 90 deg off the aircraft's heading: with (a, b) the velocity turned by
    -psi, u_l = b and u_m = -a.
    """
    signals = _matlab_signals(path)
    names = ["psi", "xu_p", "yu_p", "q1", "q2", "q3", *PLAIN.values()]
    names += [f"{name}_ref" for name in COMMANDS.values()]
    names += ["dt"] if clock == "measured" else ["ts"]
    missing = [name for name in names if not len(signals.get(name, ()))]
    if missing:
        raise BadInput(f"{path}: missing channel {', '.join(missing)}")
    lengths = {name: len(signals[name]) for name in names if name != "ts"}
    count = lengths["psi"]
    other = [name for name, length in lengths.items() if length != count]
    if other:
        raise BadInput(
            f"{path}: channel {other[0]} has {lengths[other[0]]} samples, psi has {count}"
        )
    c, s = np.cos(signals["psi"]), np.sin(signals["psi"])
    x, y = signals["xu_p"], signals["yu_p"]
    out = {"u_l": c * y - s * x, "u_m": -c * x - s * y}
    out |= {channel: signals[name] for channel, name in PLAIN.items()}
    out |= {f"{name}_ref": signals[f"{column}_ref"] for name, column in COMMANDS.items()}
    out |= {name: signals[name] for name in ("q1", "q2", "q3")}
    out["t"] = _times(signals, clock, count)
    return make_log(path.stem, str(path), out, largest_step=SPIKE, in_units=True)


def _matlab_signals(path: Path) -> dict[str, Array]:
    """Numbers of a MATLAB file by their names, each as one row."""
    from scipy.io import loadmat  # takes a quarter of a second

    check_unpacked(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that MATLAB keeps twice
            variables: dict[str, Any] = loadmat(str(path))
    except NotImplementedError as error:
        raise BadInput(f"{path}: of MATLAB 7.3: save it by save(..., '-v7')") from error
    except Exception as error:  # scipy raises what its parser stumbles over
        raise BadInput(f"{path}: not a MATLAB file: {reason_of(error)}") from error
    return {
        name: np.ravel(value).astype(np.float64)
        for name, value in variables.items()
        if isinstance(value, np.ndarray)
        and value.dtype.kind in "fiu"
        and value.dtype.names is None
    }


def check_unpacked(path: Path) -> None:
    """Refuse a file whose compressed variables would become too large, before they are unpacked.

    Variables of MATLAB 5 follow each other, each behind its kind and its length; 15 is a stream of zlib.

    Raises:
        BadInput: they are more than `MAX_UNPACKED`.
    """
    data, left = memoryview(read_bytes(path, MAX_UNPACKED)), MAX_UNPACKED
    order: Literal["little", "big"] = "little" if bytes(data[126:128]) == b"IM" else "big"
    at = MAT_HEADER
    while at + 8 <= len(data) and left > 0:
        kind, size = (int.from_bytes(data[at + i : at + i + 4], order) for i in (0, 4))
        if kind == MAT_COMPRESSED:
            left -= _unpacked_size(data[at + 8 : at + 8 + size], left)
        at += 8 + size
    if left <= 0:
        raise BadInput(f"{path}: more than {MAX_UNPACKED >> 20} MiB of variables")


def _unpacked_size(packed: memoryview, most: int) -> int:
    """Bytes that a stream of zlib becomes, counted up to a number."""
    stream, size = zlib.decompressobj(), 0
    try:
        while packed and size < most:
            size += len(stream.decompress(packed, PIECE))
            packed = memoryview(stream.unconsumed_tail)
    except zlib.error:  # said by who reads it
        return size
    return size


def _times(signals: dict[str, Array], clock: Clock, count: int) -> Array:
    """(K,) times of samples [s]: dt[k] is how long sample k's command was held."""
    if clock == "nominal":
        return np.arange(count) * signals["ts"][0]
    return np.concatenate([[0.0], np.cumsum(signals["dt"][:-1])])


def read_run(folder: Path) -> Log:
    """A flight of this suite by its recording.

    Raises:
        BadInput: not a run folder, or one of several vehicles.
    """
    if (folder / OLD_LOG).is_file():
        old = columns_of(str(folder), *read_csv(folder / OLD_LOG))
        return make_log(folder.name, str(folder), old.signals, in_units=True)
    reader = RunReader(folder)
    if len(reader.meta.vehicles) != 1:
        raise BadInput(f"{folder}: a recording of one vehicle is expected")
    (columns,) = reader.columns()
    signals = _recorded(columns.t, columns.x[:, 0], columns.reference)
    if columns.arm is not None and (columns.mode == Mode.VELOCITY).all():
        signals |= _recorded_commands(columns.wrench_P, columns.arm)
    return make_log(folder.name, str(folder), signals, in_units=True)


def _recorded_commands(twists: Array, arm: ArmColumns) -> dict[str, Array]:
    """Signals of a plant that was commanded twists (K, 6) along the axes of its heading, and velocities of joints."""
    commands = np.hstack([twists[:, [0, 1, 2, 5]], arm.target[:, 1]])
    signals = {f"{name}_ref": each for name, each in zip(CHANNELS, commands.T, strict=True)}
    for i in range(arm.q.shape[1]):
        signals[f"q{i + 1}"], signals[f"q{i + 1}_p"] = arm.q[:, i], arm.v[:, i]
    return signals


def _recorded(t: Array, x: Array, reference: Array) -> dict[str, Array]:
    """Signals of a recorded flight: its reference's velocities are the commands, along the axes of its own heading."""
    yaw = np.array([yaw_of(q) for q in x[:, Q]])
    signals = {"t": t}
    for suffix, velocity in (("", x[:, V]), ("_ref", reference[:, REF_V])):
        c, s = np.cos(yaw), np.sin(yaw)
        signals[f"u_l{suffix}"] = c * velocity[:, 0] + s * velocity[:, 1]
        signals[f"u_m{suffix}"] = c * velocity[:, 1] - s * velocity[:, 0]
        signals[f"u_n{suffix}"] = velocity[:, 2]
    signals["w"] = x[:, W][:, 2]
    signals["w_ref"] = so3.rotate(reference[:, REF_Q], reference[:, REF_W])[:, 2]
    return signals


def read_csv(path: Path) -> tuple[list[str], Array]:
    """Header and numbers (K, columns) of a table: of commas, semicolons (with decimal commas) or tabs.

    Names may be in quotes, behind a #, and below lines of a single cell or Excel's ``sep=``; an empty cell is NaN.

    Raises:
        BadInput: it has no rows, two columns of one name, or a row with something else than its columns' numbers, named
            by its line.
    """
    lines = [each for each in enumerate(read_text(path).splitlines(), 1) if each[1].strip()]
    lines = list(dropwhile(_is_above_header, lines))
    header = _cells(lines[0][1].lstrip("# ")) if lines else []
    is_marked = header[-1:] == [""]  # some programs write a comma behind the last cell
    header = header[:-1] if is_marked else header
    if header and all(each and is_number(each) for each in header):
        raise BadInput(
            f"{path}: line {lines[0][0]}: numbers, where the names of columns are expected: t, u_l_ref, ..., w"
        )
    double = next((name for name in header if header.count(name) > 1), None)
    if double is not None:
        raise BadInput(f"{path}: two columns are called {shown(double)}; one is expected")
    rows = []
    for number, line in lines[1:]:
        place, cells = f"{path}: line {number}", _cells(line)
        cells = cells[:-1] if is_marked and cells[-1:] == [""] else cells
        if len(cells) != len(header):
            remedy = CUT if number == lines[-1][0] else ""
            raise BadInput(f"{place}: {len(header)} numbers are expected{remedy}")
        rows.append([_number(cells[k], f"{place}: {name}") for k, name in enumerate(header)])
    if not rows:
        raise BadInput(f"{path}: a header and rows of numbers are expected")
    return header, np.array(rows)


def _is_above_header(line: tuple[int, str]) -> bool:
    """True for a comment, and for the line by which Excel knows the mark between cells."""
    cells = _cells(line[1])
    return len(cells) < 2 or cells[0].startswith("sep=")


def _cells(line: str) -> list[str]:
    return list(cells_of(line, next((each for each in ";\t," if each in line), ",")))


def _number(cell: str, place: str) -> float:
    try:
        return float(cell.replace(",", ".")) if cell else np.nan
    except ValueError as error:
        raise BadInput(f"{place} is {shown(cell)}, not a number") from error
