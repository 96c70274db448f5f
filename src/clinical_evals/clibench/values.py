"""What small expressions give, as Python values."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ibis.expr.types as ir


def rows_of(table: "ir.Table") -> list[dict[str, Any]]:
    """The rows of a small table."""
    return list(table.to_pyarrow().to_pylist())


def count_of(table: "ir.Table") -> int:
    """How many rows a table has."""
    return int(table.count().to_pyarrow().as_py())


def distinct_of(table: "ir.Table", column: str) -> list[str]:
    """The distinct values of a column, in no order; null is none."""
    return [row[column] for row in rows_of(table.select(column).distinct()) if row[column] is not None]
