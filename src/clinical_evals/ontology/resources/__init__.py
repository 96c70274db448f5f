"""The release files that the code systems are read from: what they are, where they are, and how they come here.

manifest   what each resource is: names, releases, official addresses, licence, SHA-256
search     finds a resource on this machine; nothing is downloaded there
folder     the folder of the user and the one that `clinical-evals resources` keeps
store      puts a file into the kept folder, once its reader has read it
archive    the right member of a zip archive
fetch      downloads what its licence lets a program download, when asked
reading    reads a file with the reader of its system
listing    what is here, and whether it still is what it was
"""

from clinical_evals.ontology.resources.search import Found, find, find_optional, kept_file, locate, missing

__all__ = ["Found", "find", "find_optional", "kept_file", "locate", "missing"]
