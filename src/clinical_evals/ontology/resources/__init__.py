"""The release files that the code systems are read from: what they are, where they are, and how they come here.

manifest   what each resource is: names, releases, official addresses, licence, SHA-256
search     finds a resource on this machine; nothing is downloaded there
unchanged  whether a kept file still is the one that was added
folder     the folder of the user and the one that `clinical-evals resources` keeps
content    the bytes of a file and their SHA-256
store      puts a file into the kept folder, once its reader has read it
archive    the right member of a zip archive
fetch      downloads what its licence lets a program download, when asked
reading    reads a file with the reader of its system
remarks    what is to be said of a file that can be read, and yet may not be the whole one
listing    what is here, and whether it still is what it was
"""

from clinical_evals.ontology.resources.search import (
    Found,
    find,
    find_optional,
    kept_file,
    locate,
    missing,
    telling_where,
)

__all__ = ["Found", "find", "find_optional", "kept_file", "locate", "missing", "telling_where"]
