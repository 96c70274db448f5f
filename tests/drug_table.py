"""A small map of drugs in the layout of the published one, for tests without the user's file."""

from pathlib import Path

HEADER = "gsn,atc,ndc\n"
ROWS = (
    "004763,A10BA02,00087606005\n"
    "004764,A10BA02,00087607005\n"
    "004764,A10BD07,00006057561\n"  # one GSN, two classes
    "015555,N02BE01,00045-0487-60\n"
    "015556,A10,?\n"
    "015557,N99ZZ01,0\n"
    "015558,N02BE01,00087606005\n"  # one NDC, two classes
)


def write(folder: Path, text: str = HEADER + ROWS, name: str = "gsn_atc_ndc_mapping.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path
