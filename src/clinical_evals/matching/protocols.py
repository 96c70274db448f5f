"""The two protocols by which answers become scores (protocol.md 2.5, 2.6 and 3)."""

from clinical_evals.errors import UnknownNameError

PROTOCOLS = ("standard", "official")
"""Ours, and the rules of the released scorers to the letter."""


def check_protocol(protocol: object) -> None:
    """Refuse what is none of `PROTOCOLS`.

    Raises:
        UnknownNameError: there is no such protocol; the nearest one is named.
    """
    if protocol not in PROTOCOLS:
        raise UnknownNameError("protocol", str(protocol), PROTOCOLS)
