"""The terms of the code systems whose codes and names stand in the data."""

from clinical_evals.hub.cards.facts import Notice

LOINC = Notice(
    "LOINC",
    """\
`lab_results[].loinc` holds LOINC numbers; so do the `codes` of `lab_order`, with names of LOINC in its `titles`.

> This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and the Logical
> Observation Identifiers Names and Codes (LOINC) Committee and is available at no cost under the license at http://loinc.org/license.
> LOINC® is a registered United States trademark of Regenstrief Institute, Inc.""",  # noqa: E501 - as it is cited
)
ATC = Notice(
    "ATC",
    """\
The `codes` and `titles` of `prescription` are codes of the Anatomical Therapeutic Chemical classification and the names of the
substances behind them.

> ATC codes and names are from the ATC/DDD Index, © WHO Collaborating Centre for Drug Statistics Methodology, Norwegian Institute of
> Public Health, Oslo (https://atcddd.fhi.no). They are used here as facts about the drugs that were given; the index itself
> (its structure, its defined daily doses) is not part of this data. Redistribution for commercial purposes and changes to the
> material are not allowed by its terms.""",  # noqa: E501  # Markdown: a line of the card
)
ICD = Notice(
    "ICD-10-CM and ICD-10-PCS",
    """\
ICD-10-CM codes and titles are works of the US government (CDC/NCHS and CMS) on the WHO's ICD-10. ICD-10-PCS codes and titles are
works of the US government (CMS) and in the public domain.""",  # noqa: E501  # Markdown: a line of the card
)
