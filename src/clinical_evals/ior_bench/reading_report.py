"""What reading a source of IOR-Bench says to the user: how many rows, what was left out and why, what was changed."""

from clinical_evals.ior_bench.data import Read

MOST_SHOWN = 20


def report_of(read: Read, most_shown: int | None = MOST_SHOWN) -> list[str]:
    """Lines of text.

    Args:
        read: what was read.
        most_shown: how many records that were left out are listed; None lists all.
    """
    departments = len({row["department"] for row in read.rows})
    candidates = len(read.rows[0]["candidates"]) if read.rows else 0
    lines = [f"{len(read.rows):,} rows, {departments} departments occur, {candidates} candidates"]
    if read.skipped:
        lines.append(f"{len(read.skipped):,} records left out:")
        lines += [f"  {skipped.where}: {skipped.reason}" for skipped in read.skipped[:most_shown]]
        if most_shown is not None and len(read.skipped) > most_shown:
            lines.append(f"  and {len(read.skipped) - most_shown:,} more")
    return lines + [str(note) for note in read.notes]
