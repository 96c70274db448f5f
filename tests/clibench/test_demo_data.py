"""The try-it data: the demo's tables as they are, notes in the layout of MIMIC-IV-Note that say they are synthetic."""

import argparse
import csv
import gzip
import io
import json
import re
import resource
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from written_demo import TABLES, TITLES, write_demo, write_table

from clinical_evals.cli.demo_data import add_demo_data
from clinical_evals.clibench import demo_data, demo_notes, demo_radiology
from clinical_evals.clibench.demo_data import NOTE_COLUMNS, write_demo_data
from clinical_evals.clibench.demo_folder import folder_aside
from clinical_evals.clibench.demo_note_lists import distinct, drugs_at_home, numbered, order_line, result_lines
from clinical_evals.clibench.demo_note_styles import STYLES, TEMPLATE, lay_out
from clinical_evals.clibench.demo_notes import discharge_note
from clinical_evals.clibench.demo_stay import Coded, Drug, Lab, Stay
from clinical_evals.clibench.demo_tables import COLUMNS, find_hosp, read_stays
from clinical_evals.clibench.demo_words import Speech, condition_of, folded, procedure_words, words
from clinical_evals.clibench.notes import admission_record
from clinical_evals.errors import InputError, RunError

KNOWN_AT_ADMISSION = ("allergies", "complaint", "illness", "history", "social", "family", "exam", "home_drugs")


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return write_demo(tmp_path / "demo")


def read_notes(out: Path, name: str) -> list[dict[str, str]]:
    text = gzip.decompress((out / "note" / f"{name}.csv.gz").read_bytes()).decode()
    rows = csv.DictReader(io.StringIO(text, newline=""))
    assert tuple(rows.fieldnames or ()) == NOTE_COLUMNS
    return list(rows)


def stays_of(demo: Path) -> dict[int, tuple[Stay, list[Stay]]]:
    """Each stay, with those before it, by hadm_id."""
    patients = read_stays(find_hosp(demo))
    return {stay.hadm_id: (stay, stays[:number]) for stays in patients for number, stay in enumerate(stays)}


def check_notes(out: Path) -> None:
    """What holds for the notes of any demo."""
    stays = stays_of(out)
    discharge, radiology = read_notes(out, "discharge"), read_notes(out, "radiology")
    assert sorted(int(row["hadm_id"]) for row in discharge) == sorted(stays)  # one for each admission
    for row in discharge:
        stay, _ = stays[int(row["hadm_id"])]
        assert row["note_id"] == f"{stay.subject_id}-DS-{row['note_seq']}"
        assert (row["subject_id"], row["note_type"]) == (str(stay.subject_id), "DS")
        assert row["charttime"] == f"{stay.discharged:%Y-%m-%d} 00:00:00"  # the day alone, as in MIMIC-IV-Note
        assert row["storetime"] > str(stay.discharged)
        assert row["text"].rstrip().endswith(demo_notes.LABEL)
        assert max(map(len, row["text"].splitlines())) <= 81  # 80 and the blank of the template
        record = folded(admission_record(row["text"]).record)
        titles = [folded(item.title) for item in stay.diagnoses if item.title]
        assert titles[0] in folded(row["text"])  # under the discharge diagnoses
        assert [title for title in titles if title in record] == []  # and nowhere before
        assert "synthetic" not in record
    for row in radiology:
        assert row["note_id"] == f"{row['subject_id']}-{row['note_type']}-{row['note_seq']}"
        assert row["note_type"] in ("RR", "AR")
        assert row["text"].rstrip().endswith(demo_radiology.LABEL)
        assert row["storetime"] > row["charttime"]
        if row["hadm_id"]:
            stay, _ = stays[int(row["hadm_id"])]
            assert [
                item.title for item in stay.diagnoses if item.title and folded(item.title) in folded(row["text"])
            ] == []
    identifiers = [row["note_id"] for row in (*discharge, *radiology)]
    assert len(set(identifiers)) == len(identifiers)


def test_a_written_demo(demo: Path, tmp_path: Path) -> None:
    done = write_demo_data(demo, tmp_path / "out")
    assert done[1:5] == (len(TABLES), 2, 3, 3)  # tables, patients, admissions, discharge notes
    assert not done.was_there
    check_notes(tmp_path / "out")
    for name in TABLES:
        assert (tmp_path / "out/hosp" / name).read_bytes() == (demo / "hosp" / name).read_bytes()
    assert (tmp_path / "out/LICENSE.txt").read_text() == "the licence of the written demo\n"
    notice = (tmp_path / "out/NOTICE.txt").read_text()
    assert "SYNTHETIC" in notice
    assert "ODbL" in notice


def test_the_open_demo(mimic_demo: Path, tmp_path: Path) -> None:
    done = write_demo_data(mimic_demo, tmp_path / "out")
    assert (done.patients, done.admissions, done.discharge_notes) == (100, 275, 275)
    check_notes(tmp_path / "out")
    radiology = read_notes(tmp_path / "out", "radiology")
    kinds = Counter((row["note_type"], bool(row["hadm_id"])) for row in radiology)
    assert set(kinds) == {("RR", True), ("RR", False), ("AR", True), ("AR", False)}
    assert done.radiology_notes == kinds.total()
    texts = [row["text"] for row in read_notes(tmp_path / "out", "discharge")]
    for heading in ("History of Present Illness:", "HISTORY OF PRESENT ILLNESS:", "HPI:", "PMHx:", "D/C Dx:"):
        assert any(heading in text for text in texts), heading
    assert len(set(texts)) == 275


def test_other_row_orders_give_the_same_notes(demo: Path, tmp_path: Path) -> None:
    write_demo_data(demo, tmp_path / "a")
    write_demo_data(write_demo(tmp_path / "backwards", backwards=True), tmp_path / "b")
    for name in ("discharge.csv.gz", "radiology.csv.gz"):
        assert (tmp_path / "a/note" / name).read_bytes() == (tmp_path / "b/note" / name).read_bytes()


def test_another_seed_gives_other_notes(demo: Path, tmp_path: Path) -> None:
    write_demo_data(demo, tmp_path / "a", seed=0)
    write_demo_data(demo, tmp_path / "b", seed=1)
    assert [row["text"] for row in read_notes(tmp_path / "a", "discharge")] != [
        row["text"] for row in read_notes(tmp_path / "b", "discharge")
    ]


def test_hosp_itself_is_taken_too(demo: Path, tmp_path: Path) -> None:
    assert write_demo_data(demo / "hosp", tmp_path / "out").admissions == 3
    assert (tmp_path / "out/LICENSE.txt").is_file()  # it lies beside hosp


def test_a_second_run_says_that_it_is_there(demo: Path, tmp_path: Path) -> None:
    first = write_demo_data(demo, tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    second = write_demo_data(demo, tmp_path / "out")
    assert second == first._replace(was_there=True)
    assert "is there already" in second.describe()
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}


def test_what_is_there_is_not_overwritten(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_demo_data(demo, out)
    with pytest.raises(InputError, match=r"made of other seed \(0, now 1\)"):
        write_demo_data(demo, out, seed=1)
    (demo / "hosp/services.csv").write_text(
        (demo / "hosp/services.csv").read_text() + "90000002,95000003,2160-07-09 23:10:00,,MED\n"
    )
    with pytest.raises(InputError, match="made of other tables"):
        write_demo_data(demo, out)
    (out / "hosp/services.csv").unlink()
    with pytest.raises(InputError, match=r"hosp/services\.csv changed since"):
        write_demo_data(demo, out)


@pytest.mark.parametrize("content", [None, "no JSON", "[]", "{}", '{"made_of": {}, "counts": {}, "files": 3}'])
def test_a_folder_of_something_else_is_refused(demo: Path, tmp_path: Path, content: str | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    if content is not None:
        (out / demo_data.RECORD).write_text(content)
    with pytest.raises(InputError, match=r"out .*Give another --out"):
        write_demo_data(demo, out)
    assert (out / "mine.txt").read_text() == "mine"


def test_an_empty_folder_may_be_there(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert write_demo_data(demo, tmp_path / "out").admissions == 3


def test_a_folder_that_is_no_demo(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere does not exist\. --mimic-demo takes"):
        write_demo_data(tmp_path / "nowhere", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=f"is no MIMIC demo: it has no {', '.join(COLUMNS)}"):
        write_demo_data(tmp_path / "empty", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("labevents.csv.gz", lambda path: path.unlink(), r"has no labevents \(\.csv or \.csv\.gz\)"),
        ("labevents.csv.gz", lambda path: path.write_bytes(path.read_bytes()[:-20]), "labevents.csv.gz.*cut off"),
        ("services.csv", lambda path: path.write_text("hadm_id,service\n"), "no column transfertime, curr_service"),
        (
            "admissions.csv.gz",
            lambda path: write_table(path, ",".join(COLUMNS["admissions"]), []),
            "has no rows, expected the admissions",
        ),
        (
            "admissions.csv.gz",
            lambda path: write_table(
                path, ",".join(COLUMNS["admissions"]), [(90000001, 1, "soon", "2150-01-05 12:00:00", "URGENT", "", 0)]
            ),
            "line 2: admittime is 'soon'",
        ),
        (
            "admissions.csv.gz",
            lambda path: write_table(
                path, ",".join(COLUMNS["admissions"]), [(7, 1, "2150-01-05 12:00:00", "", "URGENT", "", 0)]
            ),
            "line 2: subject_id '7' is not in patients",
        ),
        (
            "diagnoses_icd.csv.gz",
            lambda path: write_table(path, ",".join(COLUMNS["diagnoses_icd"]), [(95000001, "first", "I10", 10)]),
            "line 2: seq_num is 'first', expected a whole number",
        ),
        (
            "patients.csv.gz",
            lambda path: write_table(path, ",".join(COLUMNS["patients"]), [(n, "F", 50, 2150) for n in range(101)]),
            "has 101 patients, expected at most 100",
        ),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_used(demo: Path, tmp_path: Path, name: str, change: object, message: str) -> None:
    change(demo / "hosp" / name)  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        write_demo_data(demo, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_demo_itself_is_not_written_to(demo: Path) -> None:
    with pytest.raises(InputError, match="lies inside"):
        write_demo_data(demo, demo / "hosp" / "out")


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """The system refuses to write more to one file, as it refuses on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_nothing_is_left_where_the_disk_is_full(demo: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    with files_of_at_most(2000), pytest.raises(RunError, match=r"out cannot be written .*nothing was left there"):
        write_demo_data(demo, target / "out")
    assert list(target.iterdir()) == []


def test_another_run_that_was_first(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other run begins later and is done before this one puts its folder in place."""
    out = tmp_path / "target" / "out"

    def overtaken(seed: int) -> None:
        write, other = demo_data.write_record, []

        def late(*arguments: object) -> None:
            monkeypatch.setattr(demo_data, "write_record", write)
            other.append(write_demo_data(demo, out, seed))
            write(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(demo_data, "write_record", late)
        done = write_demo_data(demo, out)
        assert (done.was_there, done[:6]) == (True, other[0][:6])

    overtaken(seed=0)
    assert "is there already" in write_demo_data(demo, out).describe()
    shutil.rmtree(out)
    with pytest.raises(InputError, match=r"was made of other seed \(1, now 0\)"):
        overtaken(seed=1)
    assert list(out.parent.iterdir()) == [out]


def test_a_folder_that_fills_meanwhile(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def fill() -> None:
        with folder_aside(out) as aside:
            (aside / "mine.txt").write_text("mine")
            out.mkdir()
            (out / "yours.txt").write_text("yours")

    with pytest.raises(InputError, match="out is there already: another run has written it meanwhile"):
        fill()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["out", "yours.txt"]


def test_nothing_is_left_after_an_interrupt(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_data, "radiology_reports", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_demo_data(demo, tmp_path / "target/out")
    assert list((tmp_path / "target").iterdir()) == []


def test_the_command(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_demo_data(parser)
    args = parser.parse_args(["--mimic-demo", str(demo), "--out", str(tmp_path / "out"), "--seed", "3"])
    args.command(args)
    assert "3 admissions, 3 synthetic discharge notes" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / demo_data.RECORD).read_text())["made_of"]["seed"] == 3


def test_a_stay_is_read_from_all_tables(demo: Path) -> None:
    stay, earlier = stays_of(demo)[95000002]
    assert [before.hadm_id for before in earlier] == [95000001]
    assert (stay.gender, stay.age, stay.service) == ("F", 71, "CMED")  # 70 in 2150, admitted in 2151
    assert [item.code for item in stay.diagnoses] == ["J189", "I10", "R0902"]  # by seq_num
    assert [lab.value for lab in stay.labs] == ["8.8", "5.9", "4.4"]  # by time and item; "___" is none
    assert [drug.name for drug in stay.drugs] == ["Azithromycin"]  # MAIN only


def test_what_a_note_tells_where(demo: Path) -> None:
    stay, earlier = stays_of(demo)[95000002]
    note = discharge_note(stay, earlier, 0).text
    record = admission_record(note).record
    assert "Lisinopril 5 mg PO/NG DAILY" in record  # taken since the stay before
    assert "Azithromycin" not in record  # started in hospital
    assert "Azithromycin 250 mg PO DAILY" in note
    assert re.search("intubation", note, re.IGNORECASE)
    assert not re.search("intubation", record, re.IGNORECASE)
    assert "Potassium-5.9*" in note
    assert "diarrheal illness" in record  # of the stay before
    assert "Dear Ms. ___" in note


def test_a_note_of_one_who_died(demo: Path) -> None:
    stay, earlier = stays_of(demo)[95000003]
    note = folded(discharge_note(stay, earlier, 0).text)
    assert "expired" in note
    assert "dear mr." not in note


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_every_style_has_every_section_once(style: object) -> None:
    sections = {name: [f"text of {name}"] for name in TEMPLATE}
    assert sorted(style.order) == sorted(TEMPLATE)  # type: ignore[attr-defined]
    text = lay_out(style, "F", sections, "last line")  # type: ignore[arg-type]
    assert all(text.count(f"text of {name}\n") + text.count(f"text of {name} \n") == 1 for name in TEMPLATE)
    assert text.endswith("last line\n")
    assert style.order[-2:] == tuple(TEMPLATE)[-2:]  # type: ignore[attr-defined]


def test_no_section_of_the_discharge_survives_in_any_style() -> None:
    for style in STYLES:
        sections = {name: [f"marker of {name}"] for name in TEMPLATE}
        record = admission_record(lay_out(style, "F", sections, demo_notes.LABEL)).record
        later = [name for name in TEMPLATE if name not in KNOWN_AT_ADMISSION and f"marker of {name}" in record]
        assert later == [], style.name


@pytest.mark.parametrize("title", ["Hypoxemia", "Dehydration", "Melena"])
def test_words_never_hold_a_title_of_the_admission(demo: Path, title: str) -> None:
    stay = stays_of(demo)[95000003][0]._replace(diagnoses=(Coded("R0902", "10", title),))
    speech = Speech(stay, Random(0))
    assert speech.choose([f"came in with {title.lower()}", "came in unwell"]) == "came in unwell"
    assert speech.choose([f"came in with {title.upper()}"], "else") == "else"


def test_pronouns(demo: Path) -> None:
    woman, man = (Speech(stays_of(demo)[hadm][0], Random(0)) for hadm in (95000002, 95000003))
    assert woman.say("{She} said {her} son found {her} there") == "She said her son found her there"
    assert man.say("{She} said {her} son found {her} there") == "He said his son found him there"


def test_every_word_can_be_said(demo: Path) -> None:
    """A pronoun that is misspelled in the file would end the command."""
    speech = Speech(stays_of(demo)[95000002][0], Random(0))
    entries = [*words()["conditions"], *words()["systems"].values()]
    texts = [text for entry in entries for kind in ("complaint", "story", "course") for text in entry.get(kind, ())]
    texts += [text for kind in ("social", "family", "allergies", "ros", "transfer") for text in words()[kind]]
    assert not [text for text in map(speech.say, texts) if "{" in text or not text]
    known = set(words()["pictures"])
    assert {entry["picture"] for entry in words()["conditions"] if "picture" in entry} <= known


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("Acute on chronic systolic (congestive) heart failure", "CHF"),
        ("Essential (primary) hypertension", "HTN"),
        ("Portal hypertension", "liver disease"),
        ("Personal history of nicotine dependence", ""),
        ("Alcohol dependence with withdrawal, unspecified", "EtOH use"),
        ("Other specified cardiac dysrhythmias", "cardiac dysrhythmias"),
    ],
)
def test_how_notes_call_a_diagnosis(title: str, short: str) -> None:
    assert condition_of(Coded("I10", "10", title)).short == short


def test_procedures_by_the_longest_known_beginning() -> None:
    assert procedure_words(Coded("5491", "9", "")) == "percutaneous drainage of the abdominal cavity"
    assert procedure_words(Coded("5A1955Z", "10", "")) == "mechanical ventilation"
    assert procedure_words(Coded("0ZZZZZZ", "10", "")) == "operation"
    assert procedure_words(Coded("", "10", "")) == "procedure"


def test_lists() -> None:
    labs = [
        Lab("2150-01-01 09:00:00", "Potassium", "Blood", "5.9", "mEq/L", True),
        Lab("2150-01-01 09:00:00", "pH", "Urine", "6.0", "units", False),
        Lab("2150-01-01 09:00:00", "Calcium, Total", "Blood", "8.8", "mg/dL", False),
    ]
    assert list(result_lines(labs)) == [
        "___ 09:00AM BLOOD Calcium,Total-8.8 Potassium-5.9*",
        "___ 09:00AM URINE pH-6.0",
    ]
    drugs = [
        Drug("", "", "Senna", "8.6", "mg", "PO", ""),
        Drug("", "", "Aspirin", "81", "mg", "PO", "1"),
        Drug("", "", "Heparin", "5000", "UNIT", "SC", "3"),
        Drug("", "", "Vancomycin", "1000", "mg", "IV", "1"),
    ]
    assert numbered(map(order_line, drugs_at_home(drugs))) == ["1. Aspirin 81 mg PO DAILY", "2. Senna 8.6 mg PO PRN"]
    assert distinct([[1], [2], [1]]) == [[1], [2]]


def test_titles_of_the_written_demo_are_those_of_its_dictionary(demo: Path) -> None:
    titles = {item.title for stay, _ in stays_of(demo).values() for item in stay.diagnoses}
    assert titles == set(TITLES.values())
