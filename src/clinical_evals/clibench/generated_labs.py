"""Generated lab results of a batch of admissions, as Arrow tables with the columns of MIMIC-IV's labevents."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clinical_evals.clibench.generated_catalog import Catalog
from clinical_evals.clibench.generated_tables import DAY, Batch, Ints, Times, choice, taken

OUTSIDE_SHARE = 0.26
"""Share of the blood draws that belong to no admission, as in the demo."""
DRAW = 14
"""Results of one blood draw."""
_LEVELS = 64
"""Different results of an item."""


def lab_table(batch: Batch, rows: int, first_event: int, first_specimen: int) -> pa.Table:
    """`rows` rows of labevents, in draws of `DRAW` results.

    Args:
        batch: the admissions.
        rows: how many; they are spread over the admissions.
        first_event: the first labevent_id.
        first_specimen: the first specimen_id.
    """
    counts = batch.spread(rows)
    draws = -(-counts // DRAW)
    admission = np.repeat(np.arange(len(counts)), counts)
    inside = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
    draw = (np.cumsum(draws) - draws)[admission] + inside // DRAW
    outside, time, start = _draws(batch, draws)
    item = (start[draw] + inside % DRAW) % len(batch.catalog.labs)
    result = _results(batch.catalog, batch.rng)
    place = item * _LEVELS + batch.rng.integers(0, _LEVELS, rows)
    hadm = pa.array(batch.admissions.hadm[admission], mask=outside[draw])
    charttime = time[draw]
    per_item = {name: tuple(map(_text, column)) for name, column in zip(
        ("itemid", "unit", "low", "high"),
        zip(*((lab.itemid, lab.unit, lab.low, lab.high) for lab in batch.catalog.labs), strict=True), strict=True,
    )}  # fmt: skip
    return pa.table(
        {
            "labevent_id": np.arange(first_event, first_event + rows),
            "subject_id": batch.admissions.subject[admission],
            "hadm_id": hadm,
            "specimen_id": first_specimen + draw,
            "itemid": taken(per_item["itemid"], item),
            "order_provider_id": pa.nulls(rows, pa.string()),
            "charttime": charttime,
            "storetime": charttime + np.timedelta64(70, "m"),
            "value": taken(result["value"], place),
            "valuenum": taken(result["valuenum"], place),
            "valueuom": taken(per_item["unit"], item),
            "ref_range_lower": taken(per_item["low"], item),
            "ref_range_upper": taken(per_item["high"], item),
            "flag": taken(result["flag"], place),
            "priority": choice(("ROUTINE", "STAT"), rows, batch.rng),
            "comments": pa.nulls(rows, pa.string()),
        }
    )


def _draws(batch: Batch, draws: Ints) -> tuple[NDArray[np.bool_], Times, Ints]:
    """Of each blood draw: whether it belongs to no admission, its time, and its first item."""
    count = int(draws.sum())
    admission = np.repeat(np.arange(len(draws)), draws)
    outside = batch.rng.random(count) < OUTSIDE_SHARE
    before = batch.rng.integers(2 * DAY, 100 * DAY, count).astype("timedelta64[m]")
    time = np.where(outside, batch.admissions.admitted[admission] - before, batch.within(admission))
    return outside, time, batch.rng.choice([0, 0, 11, 20, 28], count)


def _results(catalog: Catalog, rng: np.random.Generator) -> dict[str, list[Any]]:
    """`_LEVELS` results of each item: as text, as number (None for text) and the flag."""
    texts = catalog.values["texts"]
    value: list[str] = []
    number: list[float | None] = []
    flag: list[str | None] = []
    for lab in catalog.labs:
        drawn = rng.normal(lab.mean, lab.deviation, _LEVELS)
        for level in drawn if lab.mean == 0 else np.abs(drawn):
            text = f"{level:.{lab.decimals}f}"
            is_text = rng.random() < 0.04
            shown = float(text)
            value.append(texts[int(rng.integers(len(texts)))] if is_text else text)
            number.append(None if is_text else shown)
            outside = (lab.low is not None and shown < lab.low) or (lab.high is not None and shown > lab.high)
            flag.append("abnormal" if outside and not is_text else None)
    return {"value": value, "valuenum": number, "flag": flag}


def _text(value: object) -> str | None:
    return None if value is None else f"{value:g}" if isinstance(value, float) else str(value)
