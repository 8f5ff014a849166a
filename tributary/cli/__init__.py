"""The command line, the same for people and scripts: results on stdout, everything else on stderr."""
