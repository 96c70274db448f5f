"""`clinical-evals resources …`: its arguments and commands."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clinical_evals.ontology.resources.store import Added

_DESCRIPTION = """\
The release files of the code systems. They are looked for in this order: the folder that CLINICAL_EVALS_RESOURCES
names, the folder that these commands keep ($XDG_DATA_HOME or ~/.local/share, clinical-evals/resources), an installed
package. Nothing is downloaded but by `fetch`.
"""


def add_resources(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `resources`."""
    parser.description = _DESCRIPTION
    commands: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    shown = commands.add_parser("list", help="what there is, where it was found, its licence, and how to get it")
    shown.add_argument("--json", action="store_true", help="as JSON")
    shown.set_defaults(command=list_resources)
    add = commands.add_parser(
        "add",
        help="take in a file of yours",
        description="Read a release file, or the zip archive that it comes in, and copy it into the kept folder.",
    )
    add.add_argument("name", metavar="NAME", help="see `clinical-evals resources list`")
    add.add_argument("file", type=Path, metavar="FILE")
    add.set_defaults(command=add_file)
    _add_fetch(commands.add_parser("fetch", help="download one whose licence lets a program do so"))
    check = commands.add_parser("verify", help="hash and read again what there is")
    check.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    check.set_defaults(command=verify)
    path = commands.add_parser("path", help="print where the file of a resource is")
    path.add_argument("name", metavar="NAME")
    path.set_defaults(command=print_path)


def _add_fetch(fetch: argparse.ArgumentParser) -> None:
    fetch.add_argument("name", metavar="NAME", help="see `clinical-evals resources list`")
    fetch.add_argument("--release", metavar="RELEASE", help="another one than the first that `list --json` names")
    fetch.add_argument("--address", metavar="URL", help="another address: a mirror, the archive of another year")
    fetch.add_argument(
        "--timeout",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="wait that long for the connection, and for each further piece (default: %(default)g)",
    )
    fetch.set_defaults(command=fetch_file)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{text}: expected a number of seconds above 0")
    return seconds


def list_resources(args: argparse.Namespace) -> None:
    """Print all resources and their state."""
    from clinical_evals.ontology.resources.folder import FOLDER_VARIABLE, kept_folder, own_folder
    from clinical_evals.ontology.resources.listing import as_json, as_text, list_resources

    own = own_folder()
    listed = list_resources()
    if args.json:
        print(json.dumps([as_json(one) for one in listed], indent=2, ensure_ascii=False))
        return
    print(f"{FOLDER_VARIABLE}: {own or 'not set'}\nkept folder: {kept_folder()}")
    for one in listed:
        print(f"\n{as_text(one)}")


def add_file(args: argparse.Namespace) -> None:
    """Take in a file and say what was read in it."""
    from clinical_evals.ontology.resources.manifest import get_resource
    from clinical_evals.ontology.resources.store import add_file

    _say_added(args.name, add_file(get_resource(args.name), args.file))


def fetch_file(args: argparse.Namespace) -> None:
    """Download a file, take it in and say what was read in it."""
    from clinical_evals.ontology.resources.fetch import fetch
    from clinical_evals.ontology.resources.manifest import get_resource

    _say_added(args.name, fetch(get_resource(args.name), _say_now, args.release, args.address, args.timeout))


def _say_now(text: str) -> None:
    print(text, flush=True)  # before the progress bar, which goes to stderr


def _say_added(name: str, added: "Added") -> None:
    from clinical_evals.errors import InputError
    from clinical_evals.ontology.resources import Found, find
    from clinical_evals.ontology.resources.manifest import get_resource
    from clinical_evals.ontology.resources.remarks import remarks_on

    path, recorded = added
    print(f"{name}: {recorded.content}\nkept as {path}")
    for remark in remarks_on(get_resource(name), Found(path, "kept folder"), recorded.sha256, recorded.entries):
        print(f"Note: {remark}.")
    try:
        if (first := find(name)) != path:
            print(f"Note: {first} goes before it, as CLINICAL_EVALS_RESOURCES names its folder.")
    except InputError as error:
        print(f"Note: it is not used yet. {error}")


def verify(args: argparse.Namespace) -> None:
    """Print what came of reading each file again; an error if one is no longer what it was."""
    from clinical_evals.errors import InputError
    from clinical_evals.ontology.resources.listing import verify
    from clinical_evals.ontology.resources.manifest import RESOURCES, get_resource

    results = []
    for resource in [get_resource(name) for name in args.names] or RESOURCES:
        for result in verify(resource):
            print(f"{result.state:<6} {result.name}: {result.said}", flush=True)
            results.append(result)
    failing = ("bad", "absent") if args.names else ("bad",)
    if bad := [result.name for result in results if result.state in failing]:
        raise InputError(f"{len(bad)} of {len(results)} cannot be used: {', '.join(bad)}; see above")


def print_path(args: argparse.Namespace) -> None:
    """Print the path and nothing else."""
    from clinical_evals.ontology.resources import find

    print(find(args.name))
