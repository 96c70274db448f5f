"""The extraction's expressions in BigQuery's SQL. Nothing here was run on BigQuery: there is none without an account.

Each expression is compiled by Ibis over tables of text, as MIMIC's own are read, and its SQL is
- parsed as BigQuery's (sqlglot), and searched for what was refused once (below) though Ibis wrote it;
- rewritten by sqlglot for DuckDB and run on the small MIMIC: it gives the rows of the expression on our DuckDB engine;
- where the package `zetasql` is installed, checked with all types by GoogleSQL's own analyser, and run on the same
  rows by its reference implementation (both are Google's, compiled to WebAssembly).
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis", reason="the extra `mimic` is not installed")
pytest.importorskip("duckdb", reason="the extra `mimic` is not installed")
import duckdb
import ibis
import pyarrow as pa
import sqlglot
from small_mimic import ADMISSIONS, DIAGNOSES, DRUGS, LABS, write_mimic
from sqlglot import exp

from clinical_evals.clibench import gold, mimic
from clinical_evals.clibench.engines import open_engine
from clinical_evals.clibench.extraction import COLUMNS
from clinical_evals.clibench.mimic_files import HOSP, Source, find_files, read_columns

ODD = {
    "admissions": ADMISSIONS + "1,103,,2152-08-01 00:00:00,,URGENT,,,,,\n"  # no time: nobody's previous stay
    "3,302,soon,2170-02-02,,URGENT,,,,,\n",  # no time, and a date without its time of day
    "diagnoses_icd": DIAGNOSES + DIAGNOSES.splitlines(keepends=True)[1],  # twice
    "labevents": LABS + "9,2,one,1,50931,2160-03-04 08:00:00,,90,90,,,,,,\n"  # an admission that is no number
    "10,2,202,1,50931,01/01/50 10.30,,high,high,,70.5,,,,\n",  # a time and a result that are none
    "prescriptions": DRUGS + "1,101,2150-01-01 14:00:00,Saline,,00000000000\n"  # an NDC of zeros alone is none
    "1,101,2150-01-01 14:00:00,,,00000000002\n",  # without a name
}
"""The small MIMIC's tables and more rows, to try what is cast and compared."""

MAPPINGS: dict[str, tuple[dict[Any, list[str]], list[str]]] = {
    "icd_codes": ({"I10": ["I10"], "E119": ["E11.9"], "N179": ["N17.9"]}, ["icd_code"]),
    "drug_codes": (
        {
            ("Metformin", "004763", "00087606005"): ["A10BD07", "A10BA02"],  # they come out sorted
            ("Metformin XR", "004764", "00087607005"): ["A10BA02"],
        },
        ["drug", "gsn", "ndc"],
    ),
}
"""By table what `gold.mapping_table` makes it of."""

ROWS = {
    "read_admissions": 9,
    "read_diagnoses": 10,  # one of 11 is there twice
    "read_procedures": 7,
    "read_all_labs": 10,
    "read_labs": 8,  # without those of no admission (5) and of no number (9)
    "read_prescriptions": 4,  # two of 6 have zeros for an NDC
    "distinct_values: services": 3,
    "distinct_values: careunit": 1,
    "read_notes: discharge": 7,
    "read_notes: radiology": 2,  # one of 3 is of no admission
    "unique: d_labitems": 3,
    "first_batch: procedures, released": 5,  # 101: the first two days; 102: one; 202: those with a date
    "first_batch: procedures, first_timestamp": 3,  # the first day of each: of 202 not what was before
    "first_batch: labs, released": 5,  # 101: all but the third day; 202: the first two hours
    "first_batch: labs, first_timestamp": 1,  # 101 at 10:30: 9:00 is before admission, and 202 begins on its third day
    "first_batch: prescriptions, released": 4,
    "first_batch: prescriptions, first_timestamp": 2,  # 101 at 12:00, 202 at 9:00
    "wholly_icd10": 5,  # not 201
    "all_valid": 4,  # neither 201 nor 301
    "codes_by_admission: diagnoses": 6,
    "codes_by_admission: prescriptions": 2,
    "history": 3,  # 102 after 101; 103 and 302, whose own time is none, after 102 and 301
}
"""By expression how many rows it has, worked out by hand."""


def expressions(tables: Mapping[str, Any]) -> dict[str, Any]:
    """What `extraction` runs, each over MIMIC's own tables; a name begins with the function that is tried."""
    admissions = mimic.read_admissions(tables["admissions"], tables["patients"])
    diagnoses = mimic.read_diagnoses(tables["diagnoses_icd"])
    procedures = mimic.read_procedures(tables["procedures_icd"])
    prescriptions = mimic.read_prescriptions(tables["prescriptions"])
    all_labs = mimic.read_all_labs(tables["labevents"])
    discharge = mimic.read_notes(tables["discharge"])
    usable = admissions.filter(
        admissions.patient & admissions.admittime.notnull() & admissions.length_of_stay.notnull()
    )
    base = usable.semi_join(discharge, "hadm_id").select("hadm_id", "admittime")
    labs = mimic.read_labs(all_labs, base)
    events = {
        "procedures": procedures,
        "labs": labs.select("hadm_id", "time", "itemid"),
        "prescriptions": prescriptions,
    }
    icd, drugs = tables["icd_codes"], tables["drug_codes"]
    return {
        "read_admissions": admissions,
        "read_diagnoses": diagnoses,
        "read_procedures": procedures,
        "read_all_labs": all_labs,
        "read_labs": labs,
        "read_prescriptions": prescriptions,
        "distinct_values: services": mimic.distinct_values(tables["services"], "curr_service"),
        "distinct_values: careunit": mimic.distinct_values(tables["transfers"], "careunit"),
        "read_notes: discharge": discharge,
        "read_notes: radiology": mimic.read_notes(tables["radiology"], base),
        "unique: d_labitems": mimic.unique(tables["d_labitems"]).order_by("itemid"),
        **{
            f"first_batch: {name}, {rule}": mimic.first_batch(table, base, rule, dates_only=name == "procedures")
            for name, table in events.items()
            for rule in ("released", "first_timestamp")
        },
        "wholly_icd10": gold.wholly_icd10(diagnoses),
        "all_valid": gold.all_valid(diagnoses, icd),
        "codes_by_admission: diagnoses": gold.codes_by_admission(diagnoses, icd, ["icd_code"], "icd_code"),
        "codes_by_admission: prescriptions": gold.codes_by_admission(
            prescriptions, drugs, ["drug", "gsn", "ndc"], "ndc"
        ),
        "history": gold.history(admissions, diagnoses, icd),
    }


@pytest.fixture(scope="module")
def unbound() -> dict[str, Any]:
    """The expressions over tables of text of which only the columns are known."""
    tables = {name: ibis.table(dict.fromkeys(columns, "string"), name=name) for name, columns in COLUMNS.items()}
    pairs = {name: dict.fromkeys([*columns, "code"], "string") for name, (_, columns) in MAPPINGS.items()}
    return expressions(tables | {name: ibis.table(columns, name=name) for name, columns in pairs.items()})


@pytest.fixture(scope="module")
def queries(unbound: dict[str, Any]) -> dict[str, str]:
    """By expression its SQL. Only Ibis' compiler is needed for it, nothing of google-cloud."""
    return {name: str(ibis.to_sql(table, dialect="bigquery")) for name, table in unbound.items()}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The small MIMIC as our DuckDB engine reads it (text, and null where it is empty), as Arrow tables."""
    folder = tmp_path_factory.mktemp("bigquery")
    found = find_files(*[write_mimic(folder / "mimic", ODD)] * 2).tables
    codes = {name: gold.mapping_table(*mapping).to_pyarrow() for name, mapping in MAPPINGS.items()}
    return as_read(found.values(), folder) | codes


@pytest.fixture(scope="module")
def connection(tables: dict[str, Any]) -> Iterator[Any]:
    """DuckDB with these tables."""
    with connected(tables) as connection:
        yield connection


@pytest.fixture(scope="module")
def expected(connection: Any, unbound: dict[str, Any]) -> dict[str, list[str]]:
    """By expression the rows that DuckDB gives by Ibis' own SQL for it, as in our builds."""
    return {name: shown(connection.to_pyarrow(table)) for name, table in unbound.items()}


def as_read(sources: Iterable[Source], folder: Path) -> dict[str, Any]:
    engine = open_engine("duckdb", folder, threads=1)
    read = {source.name: engine.read(source, COLUMNS[source.name]).to_pyarrow() for source in sources}
    engine.close()
    return read


@contextmanager
def connected(tables: Mapping[str, Any]) -> Iterator[Any]:
    connection = ibis.duckdb.connect(threads=1)
    for name, table in tables.items():
        connection.con.register(name, table)
    connection.raw_sql("CREATE MACRO ieee_divide(a, b) AS a / b")
    yield connection
    connection.disconnect()


def run_on_duckdb(query: str, connection: Any) -> Any:
    """A query of BigQuery's, rewritten: all functions but IEEE_DIVIDE, which is a / b for a b that is not 0.

    What BigQuery does unsaid is written down too: where nulls come first, as in a window.
    """
    (rewritten,) = sqlglot.transpile(query, "bigquery", "duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)
    return connection.con.sql(rewritten).to_arrow_table()


def shown(table: Any) -> list[str]:
    """The rows of an Arrow table as text in an order that does not depend on theirs."""
    return sorted(
        repr([str(value) if isinstance(value, datetime) else value for value in row.values()])
        for row in table.to_pylist()
    )


def test_every_expression_is_tried_and_has_the_rows_worked_out_by_hand(expected: dict[str, list[str]]) -> None:
    functions = {
        name
        for module in (mimic, gold)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    # mapping_table makes a table of our own codes, which BigQuery would be given as any other
    assert {name.partition(":")[0] for name in expected} == functions - {"mapping_table"}
    assert {name: len(rows) for name, rows in expected.items()} == ROWS


@pytest.mark.parametrize("name", ROWS)
def test_it_is_sql_of_bigquery(queries: dict[str, str], name: str) -> None:
    tree = sqlglot.parse_one(queries[name], read="bigquery")
    # sqlglot knows every other function by name
    assert {function.name.upper() for function in tree.find_all(exp.Anonymous)} <= {"IEEE_DIVIDE"}
    # "No matching signature for function UNIX_SECONDS": they take a TIMESTAMP; Ibis' timestamps are DATETIMEs there
    assert not tree.find(exp.UnixSeconds, exp.UnixMillis, exp.UnixMicros)
    assert "TIMESTAMP" not in {cast.to.sql("bigquery") for cast in tree.find_all(exp.Cast)}
    # "Aggregate function ARRAY_AGG not allowed in UNNEST"
    assert not [unnest for unnest in tree.find_all(exp.Unnest) if unnest.find(exp.AggFunc)]


@pytest.mark.parametrize("name", ROWS)
def test_its_sql_gives_the_same_rows_on_duckdb(
    queries: dict[str, str], connection: Any, expected: dict[str, list[str]], name: str
) -> None:
    assert shown(run_on_duckdb(queries[name], connection)) == expected[name]


def test_its_sql_gives_the_same_rows_of_the_open_demo(
    mimic_demo: Path, queries: dict[str, str], unbound: dict[str, Any], tmp_path: Path
) -> None:
    """275 admissions, 107,727 lab results. The demo has no notes: here each admission has a discharge note."""
    files = {spec.name: next((mimic_demo / "hosp").glob(f"{spec.name}.csv*")) for spec in HOSP}
    read = as_read([Source(name, path, read_columns(path)) for name, path in files.items()], tmp_path)
    columns = COLUMNS["discharge"]
    notes = [dict(zip(columns, ("id", row, "DS", "1", "text"), strict=True)) for row in read["admissions"]["hadm_id"]]
    icd10 = {row["icd_code"] for row in read["diagnoses_icd"].to_pylist() if row["icd_version"] == "10"}
    drugs = {tuple(row[name] or "" for name in ("drug", "gsn", "ndc")) for row in read["prescriptions"].to_pylist()}
    read |= {
        "discharge": pa.Table.from_pylist(notes, pa.schema(dict.fromkeys(columns, pa.string()))),
        "radiology": pa.table(dict.fromkeys(COLUMNS["radiology"], pa.array([], pa.string()))),
        "icd_codes": gold.mapping_table({code: [code] for code in icd10}, ["icd_code"]).to_pyarrow(),
        "drug_codes": gold.mapping_table({drug: ["b", "a"] for drug in drugs}, ["drug", "gsn", "ndc"]).to_pyarrow(),
    }
    with connected(read) as connection:
        rows = {name: shown(connection.to_pyarrow(table)) for name, table in unbound.items()}
        # as the funnel of a build counts them: README.md
        assert (len(rows["read_admissions"]), len(rows["read_diagnoses"]), len(rows["wholly_icd10"])) == (
            275,
            4506,
            123,
        )
        assert len(rows["first_batch: labs, released"]) == 17_991
        for name, query in queries.items():
            assert shown(run_on_duckdb(query, connection)) == rows[name], name


# GoogleSQL itself


class GoogleSql:
    """GoogleSQL's analyser and reference implementation, over tables of text."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        from zetasql.api import Analyzer, CatalogBuilder, TableBuilder, create_table_content
        from zetasql.types import AnalyzerOptions, LanguageOptions, TypeKind, ZetaSQLBuiltinFunctionOptions

        # All that the language has: which of it BigQuery has switched on is told nowhere but by BigQuery.
        language = LanguageOptions.maximum_features()
        catalog = CatalogBuilder("mimic")
        for name, table in tables.items():
            columns = TableBuilder(name)
            for column in table.column_names:
                columns = columns.add_column(column, TypeKind.TYPE_STRING)
            catalog = catalog.add_table(columns.build())
        built_in = ZetaSQLBuiltinFunctionOptions(language_options=language)
        self._catalog = catalog.with_builtin_functions(built_in).build()
        self._options = AnalyzerOptions(language_options=language)
        self._analyzer = Analyzer(self._options, self._catalog)
        self._content = {
            name: create_table_content([list(row.values()) for row in table.to_pylist()])
            for name, table in tables.items()
        }

    def check(self, query: str) -> None:
        """Raises what it has against the query."""
        self._analyzer.analyze_statement(query)

    def rows(self, query: str) -> list[list[Any]]:
        from zetasql.api import PreparedQuery

        builder = PreparedQuery.builder().set_sql(query).set_analyzer_options(self._options).set_catalog(self._catalog)
        with builder.set_table_content(self._content).prepare() as prepared:
            return [[self._value(cell) for cell in row.cell] for row in prepared.execute().content.table_data.row]

    def _value(self, cell: Any) -> Any:
        for kind in ("int64_value", "string_value", "bool_value", "double_value"):
            if (value := getattr(cell, kind)) is not None:
                return value
        return None if cell.array_value is None else [self._value(one) for one in cell.array_value.element]


@pytest.fixture(scope="module")
def google_sql(tables: dict[str, Any]) -> GoogleSql:
    if find_spec("zetasql") is None:
        pytest.skip("zetasql is not installed (pip install zetasql==0.1.5): GoogleSQL's own analyser")
    return GoogleSql(tables)


@pytest.mark.slow
def test_googlesql_accepts_it_and_gives_the_same_rows(
    google_sql: GoogleSql, queries: dict[str, str], unbound: dict[str, Any], expected: dict[str, list[str]]
) -> None:
    for name, query in queries.items():
        google_sql.check(query)
        times = [column for column, kind in unbound[name].schema().items() if kind.is_timestamp()]
        cast = ", ".join(f"CAST(`{column}` AS STRING) AS `{column}`" for column in times)
        rows = google_sql.rows(f"SELECT * {f'REPLACE ({cast})' if times else ''} FROM ({query})")
        assert sorted(map(repr, rows)) == expected[name], name


@pytest.mark.slow
def test_googlesql_refuses_what_it_refused_once(google_sql: GoogleSql) -> None:
    """What this expression was before: the check above would see it again."""
    with pytest.raises(Exception, match="No matching signature for function UNIX_SECONDS"):
        google_sql.check("SELECT UNIX_SECONDS(SAFE_CAST(admittime AS DATETIME)) FROM admissions")
    with pytest.raises(Exception, match="Aggregate function ARRAY_AGG not allowed in UNNEST"):
        google_sql.check("SELECT ARRAY(SELECT c FROM UNNEST(ARRAY_AGG(icd_code)) AS c ORDER BY c) FROM diagnoses_icd")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["2150-01-01 10:30", " 2150-01-01 10:30:00", "2150-01-01 10:30:00Z"])
def test_spellings_of_a_time_that_only_duckdb_reads(google_sql: GoogleSql, text: str) -> None:
    """MIMIC has none of them: all of its times are YYYY-MM-DD HH:MM:SS. They would be unreadable, and so an error."""
    assert google_sql.rows(f"SELECT CAST(SAFE_CAST('{text}' AS DATETIME) AS STRING)") == [[None]]
    with duckdb.connect() as connection:
        assert connection.sql(f"SELECT TRY_CAST('{text}' AS TIMESTAMP)").fetchall() == [
            (datetime(2150, 1, 1, 10, 30),)
        ]
