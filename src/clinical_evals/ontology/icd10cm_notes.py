"""Names that the notes of ICD-10-CM's tabular list give to codes.

Excludes1: diabetes insipidus (E23.2)        "diabetes insipidus" is a name of E23.2
Includes: brittle diabetes (mellitus)        a name of the code below which it stands
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

_REFERENCES = ("excludes1", "excludes2", "codeFirst", "useAdditionalCode", "codeAlso")
_NAMED = re.compile(r"(.+?)\s*\(([A-Z][0-9][0-9A-Z](?:\.[0-9A-Z]{0,4})?)[-.]{0,2}\)")
"""A name and the one code it is sent to: "sepsis NOS (A41.9)", "gout (M10.-)"; not ranges, not several codes."""
_ADVICE = re.compile(r"(?:use|code|any|if|to|the|an? )\b", re.IGNORECASE)


def referred_names(root: ET.Element) -> Iterator[tuple[str, str]]:
    """What the notes of a tabular list call a code, with that code, in their order; a pair may come several times.

    Args:
        root: of the XML file.
    """
    for kind in _REFERENCES:
        for note in root.iterfind(f".//{kind}/note"):
            named = _NAMED.fullmatch((note.text or "").strip())
            if named and not _ADVICE.match(named[1]):
                yield named[1], named[2].rstrip(".")


def included_names(element: ET.Element) -> tuple[str, ...]:
    """What the "includes" note of a code names."""
    return tuple(note.text for note in element.iterfind("includes/note") if note.text)
