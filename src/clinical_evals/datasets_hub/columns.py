"""One column of a dataset, and the schema of a config: what builder, card and tests are held to."""

from typing import Any, NamedTuple

from datasets import Features, List


class Column(NamedTuple):
    """One column: its name, type, meaning, unit (empty: none) and whether it may be null."""

    name: str
    type: Any
    meaning: str
    unit: str = ""
    nullable: bool = False


class Schema(NamedTuple):
    """The columns of a config, in order; `inner` are those of the records in a column that lists records."""

    columns: tuple[Column, ...]
    inner: tuple[tuple[str, tuple[Column, ...]], ...] = ()

    @property
    def features(self) -> Features:
        """The columns as `datasets` has them."""
        return Features({column.name: column.type for column in self.columns})

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that may not be null in any row."""
        return tuple(column.name for column in self.columns if not column.nullable)

    def table(self) -> str:
        """The columns as a Markdown table, as the card shows them."""
        inner = dict(self.inner)
        lines = ["| column | type | meaning | unit | null |", "|---|---|---|---|---|"]
        for column in self.columns:
            lines.append(_row(column, column.name))
            lines += [_row(each, f"{column.name}[].{each.name}") for each in inner.get(column.name, ())]
        return "\n".join(lines)


def list_of(columns: tuple[Column, ...]) -> List:
    """The type of a column that lists records of these columns."""
    return List({column.name: column.type for column in columns})


def _row(column: Column, name: str) -> str:
    null = "yes" if column.nullable else ""
    return f"| `{name}` | {_type_name(column.type)} | {column.meaning} | {column.unit} | {null} |"


def _type_name(type_: Any) -> str:
    if isinstance(type_, List):
        return "list of struct" if isinstance(type_.feature, dict) else f"list of {type_.feature.dtype}"
    return str(type_.dtype)
