"""The index of all commands; none of their modules is imported before it is needed.

A command may need half a second to import what it works with. `leeway version`, `leeway --help`
and shell completion should not wait for that.
"""

import argparse
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Final

# In the order of the help. The module of a command has its name, and its page the same summary.
SUMMARIES: Final[Mapping[str, str]] = {
    "serve": "answer kube-scheduler",
    "controller": "write extended rules as plain tolerations",
    "explain": "say why a pod is Pending, and what would help",
    "validate": "check the rules of manifests",
    "test": "run rules as unit tests",
    "diff": "show whose verdicts change, before you change something",
    "scan": "show who uses which rule, and what does not fit",
    "doctor": "find what is wrong with an installation",
    "compile": "write the rules of manifests as plain tolerations",
    "certs": "make a certificate for the admission webhooks",
    "config": "show the configuration",
    "completion": "print a script that completes commands and flags",
    "help": "show the manual page of a command",
    "version": "print the version",
}


def add_to(
    parsers: "argparse._SubParsersAction[argparse.ArgumentParser]", wanted: Iterable[str]
) -> None:
    """Add the wanted commands, and the names of the others."""
    chosen = frozenset(wanted)
    for name, summary in SUMMARIES.items():
        if name in chosen:
            import_module(f"extender.cli.{name}").add_to(parsers)
        else:
            parsers.add_parser(name, help=summary, add_help=False)
