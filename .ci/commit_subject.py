"""A commit-msg hook: refuses a subject that is too long or that ends in a period.

`make hooks` installs it. Git passes the file that holds the message.
"""

import sys
from pathlib import Path

MAX_LENGTH = 72


def problem(message: str) -> str | None:
    """What is wrong with the subject of a message; None if nothing is."""
    lines = (line.rstrip() for line in message.splitlines() if not line.startswith("#"))
    subject = next((line for line in lines if line), "")
    if len(subject) > MAX_LENGTH:
        return f"the subject has {len(subject)} characters, at most {MAX_LENGTH} are allowed"
    if subject.endswith("."):
        return "the subject ends in a period: leave it out"
    return None


def main(arguments: list[str]) -> int:
    """Check the file that git names."""
    found = problem(Path(arguments[0]).read_text(encoding="utf-8"))
    if found is not None:
        sys.stderr.write(f"commit message: {found}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
