# SPDX-License-Identifier: BSD-3-Clause
"""Public logs of real flights: each is inspected, and replayed or refused with the true reason, word for word.

`IAP_FLIGHT_LOGS` is the folder that they were copied to, by the names of their repositories:
PX4/flight-review-rs, PX4/px4-ulog-rs, PX4/pyulog, AscendEngineering/UpgradeEnergy, erlerobot/logs, ArduPilot/pymavlink,
gimbal-ghost/gimbal-ghost, ilya-epifanov/fc-blackbox, hedlesschkn/BetaflightLogs, PastorD/bintel and
arplaboratory/data-driven-system-identification.
"""

import os
from pathlib import Path

import pytest

from iap_bringup.cli.main import main
from iap_control.references.motions import Replay
from iap_control.references.replay import commanded
from iap_description.errors import BadInput
from iap_io.flight_logs.inspection import Inspection
from iap_io.trajectories.logged_bags import open_any
from iap_simulation.open_loop.log_trials import trials_of

FOLDER = os.environ.get("IAP_FLIGHT_LOGS", "")

NO_PLACE = "no position to fly ({}): log one, by GPS or motion capture"
INVALID = NO_PLACE.format("not valid in 100 % of its rows (xy_valid, z_valid)")
FROZEN = NO_PLACE.format("does not change: the estimator has no position")
BLACKBOX = NO_PLACE.format("a blackbox has none")
VTOL, PLANE = (
    f"a log of {x}: this suite reads those of multirotors" for x in ("a VTOL", "ArduPlane")
)
REPLAYED = {  # by patterns of their names, and the seconds that are flown
    "battery_brownout.ulg": 68.6, "ekf_failure.ulg": 64.8, "motor_failure.ulg": 38.3, "test.ulg": 28.4,
    "sample_px4_events.ulg": 11.3, "Loiter_RTL.bin": 192.5, "learn_nom*.bag": 60.2, "*freeFlight.bag": 92.2,
}  # fmt: skip
REFUSED = {  # by patterns of their names, and the reason
    "quadrotor_local.ulg": INVALID,
    "sample.ulg": INVALID,
    "sample_appended_multiple.ulg": INVALID,
    "sample_logging_tagged_and_default_params.ulg": INVALID,
    "6ba1*.ulg": "the vehicle is never in the air: vehicle_land_detected.landed says landed throughout",
    "sample_log_small.ulg": VTOL,
    "plane.BIN": PLANE,
    "Erle-Brain3.BIN": FROZEN,
    "24.BIN": FROZEN,
    "25.BIN": NO_PLACE.format("of 500 m/s: the estimator has lost its way"),
    "218.BIN": "it turns faster than a vehicle: smooth enough, its copy is 0.95 m off at t = 283.202 s:"
    " --max-speed V follows set-points at V m/s, --scale reads another unit, --from and --to cut it out,"
    " --smooth HZ flies it as it is",
    "btfl_001.bbl": "the samples leap, in 1 step, by 41.8 m and 0 deg within 1.403 s at t = 44.957 s: --from and --to"
    " cut it out, --max-speed V follows set-points at V m/s; two bodies are told apart by --body, --frame and --topic,"
    " another unit by --scale",
    "*btfl_002.bbl": BLACKBOX,
    "*btfl_all.bbl": BLACKBOX,
    "LOG000*.BFL": BLACKBOX,
    "blackbox_log_2016-04-12_125209.TXT": BLACKBOX,
    "log1[06]": NO_PLACE.format("the log has none"),
}
CLOSED_LOOP = {
    "replay of the flown motion",
    "replay of position set-points",
    "replay of velocity set-points",
}
WHAT = {
    "replay of the flown motion": "motion",
    "replay of position set-points": "position",
    "replay of velocity set-points": "velocity",
    "replay of attitude set-points": "attitude",
    "replay of the motors": "motors",
}


def logs(pattern: str) -> list[Path]:
    """The files of a pattern."""
    if not FOLDER:
        pytest.skip("no folder of public flight logs (set IAP_FLIGHT_LOGS)")
    found = sorted(Path(FOLDER).rglob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in {FOLDER}")
    return found


@pytest.mark.parametrize("pattern", [*REPLAYED, *REFUSED])
def test_a_public_log_is_inspected_or_is_of_another_vehicle(pattern, capsys):
    for path in logs(pattern):
        code = main(["inspect", str(path)])
        said = capsys.readouterr()
        if REFUSED.get(pattern) in (VTOL, PLANE):
            assert code == 2 and said.err == f"iap: {path}: {REFUSED[pattern]}\n"
        else:
            assert (
                code == 0 and "consistency:" in said.out and "cannot: mass and inertia" in said.out
            )


@pytest.mark.parametrize(("pattern", "seconds"), REPLAYED.items())
def test_a_public_log_is_replayed(pattern, seconds):
    for path in logs(pattern):
        flown = commanded(Replay(type="replay", path=str(path)))
        assert flown.duration == pytest.approx(seconds, abs=0.1)


@pytest.mark.parametrize(("pattern", "reason"), REFUSED.items())
def test_a_public_log_is_refused_with_its_reason(pattern, reason):
    for path in logs(pattern):
        with pytest.raises(BadInput) as error:
            commanded(Replay(type="replay", path=str(path)))
        hint = f"; 'iap inspect {path}' says what there is"
        said = str(error.value).removesuffix(hint).partition(" (noted before: ")[0]
        assert said == f"{path}: {reason}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", [x for x in (*REPLAYED, *REFUSED) if REFUSED.get(x) not in (VTOL, PLANE)]
)
def test_what_an_inspection_promises_is_replayed(pattern, tmp_path, capsys):
    for path in logs(pattern):
        log = open_any(path)
        uses = {each.name: each.reason for each in Inspection.of(log, trials_of(log)).uses}
        for name, what in WHAT.items():
            if name in CLOSED_LOOP and uses[name]:
                continue  # tried above, or for its set-points by the same code
            out = ["--no-plot", "--no-view", "--out", str(tmp_path / path.name / what)]
            code = main(["replay", str(path), "--what", what, "--platform", "f450", *out])
            said = capsys.readouterr().err
            is_flown = code == 0 or "diverged" in said  # a platform that cannot follow
            assert is_flown == (not uses[name]), (name, uses[name], said)
