# SPDX-License-Identifier: BSD-3-Clause
"""The tables of virpo over its sequences, for each of which a flight stands, and how methods rank in them."""

import numpy as np

from iap_bringup.experiments.virpo.cases import MAIN, SEQUENCES, SIZES, LocalizationStudy
from iap_bringup.experiments.virpo.published import COLUMNS, PublishedTables
from iap_bringup.experiments.virpo.scores import EstimateResults, Ranking, TableCell, mean_of

TABLE_I, TABLE_II, FIG_5C = "virpo TABLE I", "virpo TABLE II", "virpo Fig. 5c"


def sequences(
    table: str,
    key: str,
    results: EstimateResults,
    study: LocalizationStudy,
    papers: PublishedTables,
) -> list[TableCell]:
    """A table of virpo, `key` in the papers' record, over its sequences; a flight stands for each."""
    methods = COLUMNS[key]
    if not {key.method for key in results} & set(methods) - set(MAIN):
        return []  # it would repeat other tables
    cells = []
    for sequence, name in SEQUENCES.items():
        case = study.case(name)
        for body in case.drones if case else ():
            for method in methods:
                mean = mean_of(results, name, method, (body,))
                known = papers.error(key, sequence, body, method)
                cells.append(TableCell(table, f"{sequence} {body}", method, *mean, known))
    return cells


def rankings(
    table: str,
    key: str,
    results: EstimateResults,
    study: LocalizationStudy,
    papers: PublishedTables,
) -> list[Ranking]:
    """Rankings of methods over the sequences of stars and of lines."""
    orders: list[Ranking] = []
    for group in ("SIAP", "LIAP"):
        cases = {s: study.case(name) for s, name in SEQUENCES.items() if s.startswith(group)}
        shown = {s: case for s, case in cases.items() if case is not None}
        here, there, spreads = [], [], []
        for method in COLUMNS[key]:
            means = [mean_of(results, c.name, method, c.drones) for c in shown.values()]
            values = [mean.measured for mean in means if mean.measured is not None]
            known = [papers.error(key, s, b, method) for s, c in shown.items() for b in c.drones]
            published = [value for value in known if value is not None]
            if not values or len(values) < len(means) or not published:
                continue
            here.append((method, float(np.mean(values))))
            there.append((method, float(np.mean(published))))
            spreads += [mean.spread or 0.0 for mean in means]
        if len(here) > 1:
            noise = float(np.mean(spreads)) / float(np.sqrt(len(shown)))
            orders.append(Ranking(table, group, tuple(here), tuple(there), noise))
    return orders


def sizes(results: EstimateResults) -> list[TableCell]:
    """Fig. 5c: how many constraints a keyframe may have."""
    case = SEQUENCES["SIAP-1"]
    drones = ("drone_1", "drone_2", "drone_3")
    columns = {"1": SIZES[0], "3": SIZES[1], "5": SIZES[2], "all": "virpo"}
    means = {
        (body, column): mean_of(results, case, method, (body,))
        for body in drones
        for column, method in columns.items()
    }
    if not any(means[drones[0], column].seeds for column in list(columns)[:-1]):
        return []
    return [
        TableCell(FIG_5C, f"SIAP-1 {body}", f"F_k {column}", *mean)
        for (body, column), mean in means.items()
    ]


def size_ranking(results: EstimateResults) -> list[Ranking]:
    """Ranking of these numbers: errors fall as more constraints count."""
    case, drones = SEQUENCES["SIAP-1"], ("drone_1", "drone_2", "drone_3")
    means = [(name, mean_of(results, case, name, drones)) for name in (*SIZES, "virpo")]
    here = [(name, mean.measured) for name, mean in means if mean.measured is not None]
    if len(here) < len(means):
        return []
    noise = float(np.mean([mean.spread or 0.0 for _, mean in means]))
    return [Ranking(FIG_5C, "SIAP-1", tuple(here), (), noise)]
