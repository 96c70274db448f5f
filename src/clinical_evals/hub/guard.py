"""What may leave this machine. Everything that sends (pushes to a Hub, requests to a model endpoint) asks here first.

MIMIC-derived is what carries the mark of `clinical_evals.markers`, and what looks it, whatever its name or format: ids
in MIMIC-IV's ranges (`identifiers`), notes with de-identification blanks (`notes`). Scores, salted hashes of ids (16
hexadecimal digits or more), code tables and invented rows do not look so. Patient data of the user's own, such as a
hospital's table that `clinical-evals build` read, is known by its mark alone. How it is read: `inspection`. Weights do
not show what they learnt from, nor scored rows what was asked: where they say nothing of it, they count as MIMIC's.

| target | MIMIC-derived, patient data | cannot be read | anything else |
|---|---|---|---|
| public repository | refused, with or without consent | refused | may leave |
| private repository, remote endpoint | needs consent, which is written to the ledger | refused | may leave |
| endpoint on this machine | stays here: not looked at | stays here | stays here |
"""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from clinical_evals.errors import GuardError
from clinical_evals.hub.consent import OPTION, Consent, append_to_ledger, parse_consent
from clinical_evals.hub.evidence import PATIENT_RULE, Finding
from clinical_evals.hub.inspection import Found, Inspection, Rows, blot, inspect_paths, inspect_rows
from clinical_evals.hub.target import Target
from clinical_evals.version import __version__

MOST_SHOWN = 5
UNMARKED_RULE = "no marker"
"""The rule of weights that do not say what rows they learnt from, and of scored rows that do not say of what data."""
_PUBLIC_WAY_OUT = {
    True: (
        "Nothing MIMIC-derived goes to a public place, consent or not. Publish scores, salted hashes of the ids "
        f"and the build command instead; or push to a private repository, with {OPTION} where your data use "
        "agreement covers it. Ids that are not MIMIC's: give them a prefix with digits or another length."
    ),
    False: (
        "No patient data goes to a public place, consent or not. Publish scores and the build command instead; or "
        f"push to a private repository, with {OPTION} where whoever answers for the data allows it."
    ),
}
"""By whether it is MIMIC's."""
_UNMARKED = Found(
    "the weights",
    Finding(UNMARKED_RULE, "no file says which rows they were trained on, so they are taken for MIMIC's"),
)
_UNSAID = Finding(UNMARKED_RULE, "rows that say nothing of the data they come from, so they are taken for MIMIC's")
_SAY_IT = (
    "Of weights: `clinical-evals check-recipe` and `tuned merge --rows FOLDER` note the rows beside them; "
    '--trained-on "WORDS" says it of weights that have nothing to do with ours. Of scored rows: the log beside them '
    "says it, so push the folder of the run."
)


class Clearance(NamedTuple):
    """The guard's yes."""

    target: Target
    files: tuple[Path, ...]
    """The files that were looked at; nothing else of the folder may be sent. Empty for rows and local endpoints."""
    found: tuple[Found, ...] = ()
    """What makes it MIMIC-derived or patient data; not empty only where consent was given."""
    synthetic: bool = False
    """Whether something in it says that it is synthetic."""
    statement: str = ""
    """To be written into the commit message or the run's log; empty where no consent was needed."""


def check_may_leave(
    what: Path | Sequence[Path] | Rows,
    target: Target,
    consent: str | None = None,
    *,
    weights: bool = False,
    unsaid: Sequence[str] = (),
    rehearsal: bool = False,
) -> Clearance:
    """Decide whether something may be sent; to be called before any connection is opened.

    Args:
        what: a file, a folder, several of them, or rows or prompts (`Rows`).
        target: where it would go.
        consent: "NAME, DATE" where the user says that their data use agreement, or whoever answers for the patients'
            data, allows the transfer.
        weights: whether these are the weights of a model, which must say what they were trained on.
        unsaid: the names of files with rows that say nothing of the data they come from.
        rehearsal: whether nothing will be sent yet: then the ledger is not written.

    Raises:
        GuardError: it may not leave. The message names each file or row, the rule and counts, and the way out; it
            quotes no id and no text. Also: a malformed consent, or a ledger that cannot be written.
        InputError: a path that does not exist, or a folder without files.
    """
    given = None if consent is None else parse_consent(consent)
    if target.is_local:
        return Clearance(target, ())
    seen = _inspect(what)
    if weights and not seen.found and not seen.synthetic:
        seen = seen._replace(found=(_UNMARKED,))
    if unsaid:
        seen = seen._replace(found=(*seen.found, *(Found(blot(name), _UNSAID) for name in unsaid)))
    if not seen.found:
        return Clearance(target, seen.files, synthetic=seen.synthetic)
    unreadable = any(found.finding.rule == "unreadable" for found in seen.found)
    if target.kind == "hub-public" or given is None or unreadable:
        raise GuardError(_refusal(seen.found, target, given))
    if _is_mimic(seen.found):
        statement = f"MIMIC-derived; sent to {target} under the data use agreement of: {given}"
    else:
        statement = f"patient data; sent to {target} with the consent of: {given}"
    if not rehearsal:
        append_to_ledger(_ledger_entry(seen, target, given))
    return Clearance(target, seen.files, seen.found, seen.synthetic, statement)


def _inspect(what: Path | Sequence[Path] | Rows) -> Inspection:
    if isinstance(what, Rows):
        return inspect_rows(what)
    return inspect_paths([what] if isinstance(what, Path) else what)


def _refusal(found: Sequence[Found], target: Target, consent: Consent | None) -> str:
    lines = [f"nothing was sent to {target}. Found:"]
    lines += [f"  {where}: {finding.text} [{finding.rule}]" for where, finding in found[:MOST_SHOWN]]
    lines += [f"  and {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
    rules = {each.finding.rule for each in found}
    if rules != {"unreadable"}:
        lines.append(_way_out(target, consent, _is_mimic(found)))
    if UNMARKED_RULE in rules:
        lines.append(_SAY_IT)
    if "unreadable" in rules:
        lines.append(
            "What the guard cannot read, it holds back, with or without consent: leave the file out, or save it as "
            "text, CSV, JSON, Parquet, Arrow or safetensors; zip, tar and gzip are fine unencrypted."
        )
    return "\n".join(lines)


def _is_mimic(found: Sequence[Found]) -> bool:
    """Whether anything but the mark of other patients' data was found."""
    return not {each.finding.rule for each in found} <= {PATIENT_RULE, "unreadable"}


def _way_out(target: Target, consent: Consent | None, is_mimic: bool) -> str:
    if target.kind == "hub-public":
        return _PUBLIC_WAY_OUT[is_mimic]
    if consent is not None:
        return "The consent given covers the rest."
    ways = [
        f"MIMIC-derived content leaves only with {OPTION}, for transfers that your data use agreement covers."
        if is_mimic
        else f"Patient data leaves only with {OPTION}, for transfers that whoever answers for the data allows."
    ]
    if target.kind == "endpoint":
        ways.append("Without: a model on this machine (http://localhost:...).")
    if target.is_loopback:
        ways.append("This address is one, but the environment names a proxy for it: set no_proxy=localhost,127.0.0.1")
    return " ".join(ways)


def _ledger_entry(seen: Inspection, target: Target, consent: Consent) -> dict[str, object]:
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "name": consent.name,
        "date": consent.date.isoformat(),
        "target_kind": target.kind,
        "target": target.shown_name,
        "files": len(seen.files),
        "found": [f"{where}: {finding.text} [{finding.rule}]" for where, finding in seen.found[:MOST_SHOWN]],
        "more_found": max(0, len(seen.found) - MOST_SHOWN),
        "clinical_evals": __version__,
    }
