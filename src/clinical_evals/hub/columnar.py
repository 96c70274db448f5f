"""Columnar tables, batch by batch: Parquet and Arrow."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from clinical_evals.hub.arrays import signed, whole
from clinical_evals.hub.evidence import Evidence
from clinical_evals.hub.sources import UnreadableError, blocks

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 16 << 20
"""About how much of a Parquet file is decoded at a time."""
MOST_ROWS = 65_536


def scan_parquet(file: BinaryIO, evidence: Evidence) -> None:
    """Look at the whole of a Parquet file: metadata, names, every row group, every column."""
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(file)
    _scan_schema(parquet.schema_arrow, evidence)
    for key, value in (parquet.metadata.metadata or {}).items():
        evidence.add_text(b"\n" + key + b"\n" + value + b"\n")
    for group in range(parquet.num_row_groups):
        meta = parquet.metadata.row_group(group)
        rows = max(1, min(MOST_ROWS, BATCH_BYTES * max(1, meta.num_rows) // max(1, meta.total_byte_size)))
        for batch in parquet.iter_batches(batch_size=rows, row_groups=[group]):
            _scan_batch(batch, evidence)
            if evidence.certain:
                return


def scan_arrow(file: BinaryIO, evidence: Evidence) -> None:
    """Look at the whole of an Arrow file or stream (Feather, or what `datasets` saves to disk)."""
    import pyarrow as pa

    start = file.read(6)
    file.seek(0)
    if start == b"ARROW1":
        reader = pa.ipc.open_file(file)
        _scan_schema(reader.schema, evidence)
        batches: Iterator[pa.RecordBatch] = (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        stream = pa.ipc.open_stream(file)
        _scan_schema(stream.schema, evidence)
        batches = iter(stream)
    for batch in batches:
        _scan_batch(batch, evidence)
        if evidence.certain:
            return


def _scan_schema(schema: "pa.Schema", evidence: Evidence) -> None:
    evidence.add_column_names(schema.names)
    for metadata in [schema.metadata, *(field.metadata for field in schema)]:
        for key, value in (metadata or {}).items():
            evidence.add_text(b"\n" + key + b"\n" + value + b"\n")


def _scan_batch(batch: "pa.RecordBatch", evidence: Evidence) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        scan_array(column, name, evidence)


def scan_array(array: "pa.Array", name: str, evidence: Evidence) -> None:
    """Whole numbers are counted, text is read; lists and structs are looked into, whatever their depth."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        scan_array(array.storage, name, evidence)
    elif pa.types.is_dictionary(kind):
        scan_array(array.dictionary, name, evidence)
    elif pa.types.is_run_end_encoded(kind):
        scan_array(array.values, name, evidence)
    elif pa.types.is_struct(kind):
        for field, child in zip(kind, array.flatten(), strict=True):
            evidence.add_column_names([field.name])
            scan_array(child, field.name, evidence)
    elif pa.types.is_map(kind):
        scan_array(array.keys, name, evidence)
        scan_array(array.items, name, evidence)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        scan_array(array.flatten(), name, evidence)
    elif pa.types.is_integer(kind):
        evidence.add_values(signed(array.drop_null().to_numpy(zero_copy_only=False)), name)
    elif pa.types.is_floating(kind):
        evidence.add_values(whole(array.drop_null().to_numpy(zero_copy_only=False)), name)
    elif pa.types.is_decimal(kind):
        evidence.add_values(whole(pc.cast(array.drop_null(), pa.float64()).to_numpy(zero_copy_only=False)), name)
    elif _is_text(kind):
        _scan_text_array(array, name, evidence)
    elif not (pa.types.is_temporal(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
        raise UnreadableError(f"a column has the Arrow type {kind.id}, which is not looked into")


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow.types as types

    tests: tuple[Callable[[Any], bool], ...] = (
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_binary,
        types.is_large_binary,
        types.is_binary_view,
        types.is_fixed_size_binary,
    )
    return any(test(kind) for test in tests)


def _scan_text_array(array: "pa.Array", name: str, evidence: Evidence) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.cast(array.drop_null(), pa.large_binary())
    if len(values) == 0:
        return
    rows = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
    for block in blocks(pa.BufferReader(pc.binary_join(rows, pa.scalar(b"\n", pa.large_binary()))[0].as_buffer())):
        evidence.add_text(block, name)
