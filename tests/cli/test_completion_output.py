"""Completion scripts of a small tree; the shells themselves are asked in test_completion."""

from extender.cli import completion_output
from extender.cli.completion_output import Command, Option

HELP = Option(("-h", "--help"), takes_value=False, values=(), files=False, text="help")
FILE = Option(("--file",), takes_value=True, values=(), files=True, text="it's [a] file: any")
FORM = Option(("-o",), takes_value=True, values=("json", "yaml"), files=False, text="form")
WORD = Option(("--word",), takes_value=True, values=(), files=False, text="a word")
TREE = [
    Command(("leeway",), (HELP,), {"look": "look at files"}, (), files=False),
    Command(("leeway", "look"), (HELP, FILE, FORM, WORD), {}, (), files=True),
]


def test_bash() -> None:
    script = completion_output.bash(TREE)

    assert "'leeway look --file') _leeway_reply -f; return ;;" in script
    assert "'leeway look -o') _leeway_reply 'json yaml'; return ;;" in script
    assert "'leeway look --word') :; return ;;" in script
    assert "'leeway look') _leeway_reply '-h --help --file -o --word' && _leeway_reply -f ;;" in (
        script
    )


def test_zsh() -> None:
    script = completion_output.zsh(TREE)

    assert script.startswith("#compdef leeway\n")
    assert "look) _leeway_look ;;" in script
    assert "'*-o[form]:value:(json yaml)'" in script
    assert "*--word[a word]:value:" in script
    assert "(a) file\\: any]:file:_files" in script
    assert "'*:file:_files'" in script


def test_fish() -> None:
    lines = completion_output.fish(TREE).splitlines()

    assert "complete -c leeway -n '__leeway_at ' -a look -d 'look at files'" in lines
    assert "complete -c leeway -n '__leeway_at look' -F" in lines
    assert "complete -c leeway -n '__leeway_at look' -s o -x -a 'json yaml' -d form" in lines
    assert "complete -c leeway -n '__leeway_at look' -l word -x -d 'a word'" in lines
