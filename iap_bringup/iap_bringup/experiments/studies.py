# SPDX-License-Identifier: BSD-3-Clause
"""The studies of ``iap experiment``: each measures something and shows a table."""

from collections.abc import Callable

from rich.console import Console

from iap_bringup.experiments.engines import engines
from iap_bringup.experiments.modules.study import modules
from iap_bringup.experiments.options import ExperimentOptions
from iap_bringup.experiments.rays import rays
from iap_bringup.experiments.tasks import tasks
from iap_bringup.terminal.tables import show_columns, show_rows
from iap_description.errors import BadInput


def free_flight(console: Console) -> None:
    """The engines with contact against the closed form of free flight, over three step sizes."""
    from iap_bringup.experiments.convergence import free_flight_convergence, show_convergence

    show_convergence(console, free_flight_convergence())


def nodes(console: Console) -> None:
    """The ROS nodes as processes over 60 s: real time, lockstep, two simulations in one domain; and three modules."""
    try:
        from iap_bringup.experiments.nodes.measure import measure, measure_together
    except ImportError as error:
        raise BadInput(f"experiment nodes: ROS 2 is not in this environment ({error})") from error
    flight = ("three_star_spiral", "pybullet")
    results = {pace: measure(*flight, pace, 60.0) for pace in PACES}
    results |= measure_together(*flight, "realtime", 60.0, ("/sim_1", "/sim_2"))
    show_columns(console, "three_star_spiral, every node a process of its own", results)
    flight = ("module_assembly", "pybullet")
    modules = {pace: measure(*flight, pace, 60.0) for pace in PACES}
    modules["realtime, one process"] = measure(*flight, "realtime", 60.0, together=True)
    show_columns(console, "module_assembly, every node a process of its own, or all one", modules)


def localization_nodes(console: Console) -> None:
    """The ROS nodes that localise as separate processes, a recording of 30 s being played to them in real time."""
    try:
        from iap_bringup.experiments.nodes.measure_localization import measure_methods
    except ImportError as error:
        raise BadInput(
            f"experiment localization_nodes: ROS 2 is not in this environment ({error})"
        ) from error
    with console.status("") as status:
        results = measure_methods(("virpo", "joint"), 30.0, status.update)
    show_columns(console, "three aircraft, six images at 20 Hz, from a recording", results)


def soak(console: Console) -> None:
    """Flights of an hour, in one process and as ROS nodes in lockstep: memory, open files and threads meanwhile."""
    from iap_bringup.experiments.soak import as_nodes, in_process, show_soak

    for fly in (in_process, as_nodes):
        show_soak(console, fly, 3600.0)


def contact(console: Console) -> None:
    """A platform at rest, the peg-in-hole flight over physics rates, and the wrench observer's estimates."""
    from iap_bringup.experiments import contact as contact_studies

    with console.status("") as status:
        resting = contact_studies.resting(status.update)
        rates = contact_studies.peg_over_rates(status.update)
        observer = contact_studies.observer_steps(status.update)
    show_rows(console, "three_star at rest on the ground", resting)
    show_rows(console, "peg_in_hole", rates, PEG)
    show_rows(console, "momentum observer, 0.5 s after a step of 5 N or 1 N m", observer)


def peg_in_hole(console: Console) -> None:
    """The peg-in-hole flight with both gain presets over five seeds, each beside the same without admittance."""
    from iap_bringup.experiments.contact import peg_over_seeds

    with console.status("") as status:
        results = peg_over_seeds(("default", "paper"), status.update)
    show_rows(console, "peg_in_hole by preset and seed", results, (*PEG, "push_ratio"))


def sensors(console: Console) -> None:
    """Inertial units, attitude, stamps, projection, stereo and corners, each beside its bar."""
    from iap_bringup.experiments import images as image_studies
    from iap_bringup.experiments import sensors as sensor_studies
    from iap_sensors.cameras.make import make_renderer

    renderer = make_renderer("opengl")
    inertial = (sensor_studies.noise, sensor_studies.dead_reckoning, sensor_studies.attitude)
    seen = (
        sensor_studies.stamps,
        image_studies.projection,
        image_studies.stereo,
        image_studies.features,
    )
    try:
        with console.status("") as status:
            tables = [study(status.update) for study in inertial]
            tables += [study(status.update, renderer) for study in seen]
    finally:
        renderer.close()
    show_rows(console, "sensors", {key: row for rows in tables for key, row in rows.items()})


def virpo_tables(console: Console, options: ExperimentOptions) -> None:
    """Localisation in all scenes, by program and by hand, each method beside what is published (an hour)."""
    from iap_bringup.experiments.virpo.study import run_tables

    run_tables(console, options)


def virpo_faults(console: Console, options: ExperimentOptions) -> None:
    """Localisation with outliers, darkness, delays, dropouts and lost images, each beside the clean flight."""
    from iap_bringup.experiments.virpo.faults import run_faults

    run_faults(console, options)


def virpo_units(console: Console, options: ExperimentOptions) -> None:
    """Localisation on inertial units without and with errors of scale: errors, and whether covariances know them."""
    from iap_bringup.experiments.virpo.units import run_units

    run_units(console, options)


PACES = ("realtime", "lockstep")  # of flights as nodes
PEG = (
    "outcome",
    "depth_m",
    "bore_offset_m",
    "settled_pitch_deg",
    "pitch_command_std_deg",
    "force_max_n",
    "force_steady_n",
)
EXPERIMENTS: dict[str, Callable[[Console], None]] = {
    study.__name__: study
    for study in (
        free_flight,
        engines,
        nodes,
        localization_nodes,
        soak,
        contact,
        peg_in_hole,
        sensors,
        tasks,
        rays,
        modules,
    )
}
LOCALIZATION: dict[str, Callable[[Console, ExperimentOptions], None]] = {  # these take options
    study.__name__: study for study in (virpo_tables, virpo_faults, virpo_units)
}


def run_experiment(name: str, options: ExperimentOptions) -> None:
    """Run a study by name.

    Raises:
        BadInput: it does not take these options.
    """
    is_part = options.since != 0.0 or options.seconds is not None
    if is_part and (name != virpo_units.__name__ or options.flights is None):
        raise BadInput("--since and --seconds are for virpo_units with --flights")
    if options.since < 0.0 or (options.seconds is not None and not options.seconds > 0.0):
        raise BadInput("--since: not below 0; --seconds: above 0")
    if options.scenarios and name != engines.__name__:
        raise BadInput("--scenarios is for engines")
    if name in LOCALIZATION:
        LOCALIZATION[name](Console(), options)
    elif name == modules.__name__ and options == ExperimentOptions(quick=options.quick):
        modules(Console(), quick=options.quick)
    elif name == engines.__name__ and options == ExperimentOptions(
        quick=options.quick, scenarios=options.scenarios
    ):
        engines(Console(), options.scenarios, quick=options.quick)
    elif options != ExperimentOptions():
        raise BadInput(
            f"experiment {name}: --quick is for modules, engines and {', '.join(LOCALIZATION)}; --flights and"
            " --out are for the localisation's"
        )
    else:
        EXPERIMENTS[name](Console())
