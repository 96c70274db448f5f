"""What the rules from an answer to its scores give, and the pins that hold them to PROTOCOL_VERSION.

    python tests/tasks/pin_protocol.py             pins new cases, and those of a raised version
    python tests/tasks/pin_protocol.py --repin     also pins anew what changed: only before a version is released

A case is an answer of the tables beside the matching and department tests, read by both protocols as far as that needs
no model (items and codes that stand in them, departments), or a hand-worked set of rows with its scores. Each is
pinned by a hash of what it gives.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from clinical_evals.ior_bench.department import extract_department, extract_official
from clinical_evals.matching.answer import parse_answer
from clinical_evals.matching.matcher import Matcher
from clinical_evals.matching.official import read_official
from clinical_evals.ontology import get_system
from clinical_evals.scoring.hierarchy import count, scores
from clinical_evals.tasks.names import PROTOCOL_VERSION

TESTS = Path(__file__).parents[1]
PINS = Path(__file__).with_name("protocol_hashes.json")
COMMAND = "python tests/tasks/pin_protocol.py"

Hashes = dict[str, str]


def protocol_hashes() -> Hashes:
    """For each case, known by a hash of its input, the hash of what the protocols make of it."""
    return {_hash(given): _hash(found) for given, found in _cases()}


def compare(pinned: Hashes, found: Hashes) -> tuple[set[str], set[str], set[str]]:
    """The cases that give something else than pinned, those that are gone, and those that are new."""
    changed = {case for case in pinned.keys() & found.keys() if pinned[case] != found[case]}
    return changed, pinned.keys() - found.keys(), found.keys() - pinned.keys()


def inputs() -> dict[str, Any]:
    """The input of each case by its hash, to name the cases that changed."""
    return {_hash(given): given for given, _ in _cases()}


def _cases() -> list[tuple[Any, Any]]:
    system = get_system("icd10cm")
    layouts, table = _read("matching/answer_layouts.json"), _read("matching/protocol_differences.json")
    answers = [row["answer"] for row in (*layouts, *table["differ"], *table["agree"])]
    cases: list[tuple[Any, Any]] = []
    for answer in dict.fromkeys(answers):
        items, official = parse_answer(answer, system), read_official(answer, system)
        known = [system.normalize_all(item.codes) for item in items]
        cases.append((answer, [items, known, official.items, sorted(official.invalid)]))
    rows = _read("scoring/hand_worked_icd10cm.json")["rows"]
    counts = count([row["gold"] for row in rows], [row["predicted"] for row in rows], system)
    rounded = {name: round(value, 12) for name, value in scores(counts).items()}
    # A title that is equal needs no model; from which similarity on another one counts is part of the rules.
    titles = ["Sepsis, unspecified organism", "ESSENTIAL (primary) hypertension", "Other specified sepsis"]
    cases.append(
        (
            ["titles", titles],
            [Matcher(system).threshold, *(match and match[:3] for match in Matcher(system).match(titles))],
        )
    )
    return [*cases, (["hand-worked", rows], rounded), *_department_cases()]


def _department_cases() -> list[tuple[Any, Any]]:
    table = _read("ior_bench/department_cases.json")
    cases = []
    for case in table["cases"]:
        listed = case["candidates"]
        candidates = table["lists"][listed] if isinstance(listed, str) else listed
        found = extract_department(case["answer"], candidates)
        official = extract_official(case["answer"], candidates)
        cases.append((["department", case["answer"], candidates], [found.department, found.mentions, official]))
    return cases


def _read(name: str) -> Any:
    return json.loads((TESTS / name).read_text(encoding="utf-8"))


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repin", action="store_true")
    args = parser.parse_args()
    pins: dict[str, Hashes] = json.loads(PINS.read_text()) if PINS.exists() else {}
    found = protocol_hashes()
    changed, gone, new = compare(pins.get(PROTOCOL_VERSION, {}), found)
    if (changed or gone) and not args.repin:
        parser.error(
            f"{len(changed)} cases changed and {len(gone)} are gone under PROTOCOL_VERSION {PROTOCOL_VERSION}: raise "
            "it, or give --repin if it was never released."
        )
    pins[PROTOCOL_VERSION] = found
    PINS.write_text(json.dumps(pins, indent=0, sort_keys=True) + "\n")
    print(f"version {PROTOCOL_VERSION}: {len(found)} cases pinned ({len(new)} new, {len(changed)} changed)")


if __name__ == "__main__":
    main()
