"""Completion scripts of a small tree; the shells themselves are asked in test_completion."""

from extender.cli import completion_output
from extender.cli.completion_output import Command, Option

HELP = Option(("-h", "--help"), takes_value=False, values=(), files=False, text="help")
FILE = Option(("--file",), takes_value=True, values=(), files=True, text="it's [a] file: any")
FORM = Option(("-o",), takes_value=True, values=("json", "yaml"), files=False, text="form")
WORD = Option(("--word",), takes_value=True, values=(), files=False, text="a word")
NODE = Option(("--node",), takes_value=True, values=(), files=False, text="a node", live="nodes")
TREE = [
    Command(("leeway",), (HELP,), {"look": "look at files"}, (), files=False),
    Command(("leeway", "look"), (HELP, FILE, FORM, WORD), {}, (), files=True),
    Command(("leeway", "tell"), (NODE,), {}, (), files=True, live="pods"),
]


def test_bash() -> None:
    script = completion_output.bash(TREE)

    assert "'leeway look --file') _leeway_reply -f; return ;;" in script
    assert "'leeway look -o') _leeway_reply 'json yaml'; return ;;" in script
    assert "'leeway look --word') :; return ;;" in script
    assert "'leeway look') _leeway_reply '-h --help --file -o --word'; _leeway_reply -f ;;" in (
        script
    )
    assert "'leeway tell --node') _leeway_reply -l nodes; return ;;" in script
    assert "'leeway tell') _leeway_reply --node; _leeway_reply -f; _leeway_reply -l pods" in script


def test_zsh() -> None:
    script = completion_output.zsh(TREE)

    assert script.startswith("#compdef leeway\n")
    assert "look) _leeway_look ;;" in script
    assert "'*-o[form]:value:(json yaml)'" in script
    assert "*--word[a word]:value:" in script
    assert "(a) file\\: any]:file:_files" in script
    assert "'*:file:_files'" in script
    assert "'*--node[a node]:nodes: _leeway_live nodes'" in script
    assert "'*:pods: _leeway_live_or_file pods'" in script


def test_fish() -> None:
    lines = completion_output.fish(TREE).splitlines()

    assert "complete -c leeway -n '__leeway_at ' -a look -d 'look at files'" in lines
    assert "complete -c leeway -n '__leeway_at look' -F" in lines
    assert "complete -c leeway -n '__leeway_at look' -s o -x -a 'json yaml' -d form" in lines
    assert "complete -c leeway -n '__leeway_at look' -l word -x -d 'a word'" in lines
    typed = "(commandline -opc)[2..] (commandline -ct) 2>/dev/null"
    start = "complete -c leeway -n '__leeway_at tell'"
    assert f"{start} -F" in lines
    assert f"{start} -a '(leeway __complete pods {typed})'" in lines
    assert f"{start} -l node -x -a '(leeway __complete nodes {typed})' -d 'a node'" in lines
