"""Call wcmatch for ../tries.py, and use nothing else."""

import sys

from wcmatch import glob

pattern, path = sys.argv[1:]
print(str(glob.globmatch(path, pattern, flags=glob.GLOBSTAR | glob.DOTGLOB)).lower())
