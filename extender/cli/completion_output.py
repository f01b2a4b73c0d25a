"""Completion scripts for three shells, generated from a description of the commands."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LIVE: Final = "__complete"  # the hidden command that prints names of the live cluster


@dataclass(frozen=True, slots=True)
class Option:
    """A flag with all its names."""

    names: tuple[str, ...]
    takes_value: bool
    values: tuple[str, ...]  # the choices, if there are any
    files: bool
    text: str
    live: str = ""  # the names that the cluster is asked for, such as pods


@dataclass(frozen=True, slots=True)
class Command:
    """A command, its path (`leeway` first) and what may follow it."""

    path: tuple[str, ...]
    options: tuple[Option, ...]
    commands: Mapping[str, str]  # with a summary of each
    values: tuple[str, ...]
    files: bool
    live: str = ""

    @property
    def name(self) -> str:
        """The path as it is typed."""
        return " ".join(self.path)


def bash(commands: Sequence[Command]) -> str:
    """A script for bash."""
    paths = [f"{command.name} {each}" for command in commands for each in command.commands]
    after, words = [], []
    for command in commands:
        for option in command.options:
            if option.takes_value:
                where = "|".join(_quoted(f"{command.name} {name}") for name in option.names)
                reply = _bash_reply(option.values, option.files, option.live)
                after.append(f"    {where}) {reply}; return ;;")
        names = [*command.commands, *command.values, *(n for o in command.options for n in o.names)]
        reply = _bash_reply(tuple(names), command.files, command.live)
        words.append(f"    {_quoted(command.name)}) {reply} ;;")
    return _BASH.format(
        paths="|".join(map(_quoted, paths)), after="\n".join(after), words="\n".join(words)
    )


_BASH: Final = """\
# bash completion for leeway; made by `leeway completion bash`.
_leeway_reply() {{  # words, -f for files, or -l and what to ask the live cluster for
    local more
    if [[ $1 == -f ]]; then
        compopt -o filenames
        mapfile -t more < <(compgen -f -- "$cur")
    elif [[ $1 == -l ]]; then
        [[ $cur == -* ]] && return
        more=$("${{COMP_WORDS[0]}}" LIVE "$2" "${{COMP_WORDS[@]:1:COMP_CWORD}}" 2>/dev/null)
        mapfile -t more < <(compgen -W "$more" -- "$cur")
    else
        mapfile -t more < <(compgen -W "$1" -- "$cur")
    fi
    COMPREPLY+=("${{more[@]}}")
}}

_leeway() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path=leeway i
    COMPREPLY=()
    if [[ $cur == "=" ]]; then cur=
    elif [[ $prev == "=" ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
        {paths}) path+=" ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path $prev" in
{after}
    esac
    case "$path" in
{words}
    esac
}}

complete -F _leeway leeway
""".replace("LIVE", LIVE)


def _bash_reply(values: tuple[str, ...], files: bool, live: str) -> str:
    replies = [f"_leeway_reply {_quoted(' '.join(values))}"] if values else []
    replies += ["_leeway_reply -f"] if files else []
    replies += [f"_leeway_reply -l {live}"] if live else []
    return "; ".join(replies) or ":"


def zsh(commands: Sequence[Command]) -> str:
    """A script for zsh."""
    return "\n".join([_ZSH_HEAD, *map(_zsh_function, commands), _ZSH_TAIL])


_ZSH_HEAD: Final = f"""\
#compdef leeway
# Made by `leeway completion zsh`.

_leeway_live() {{  # what to ask the live cluster for
    local -a found=(${{(f)"$(leeway {LIVE} $1 "${{(@)words[1,CURRENT]}}" 2>/dev/null)"}})
    compadd -a found
}}

_leeway_live_or_file() {{
    _leeway_live $1
    _files
}}
"""
# On the fpath this file is the body of _leeway; sourced, it is not.
_ZSH_TAIL: Final = """\
if [[ $funcstack[1] == _leeway ]]; then
    _leeway "$@"
else
    compdef _leeway leeway
fi
"""


def _zsh_function(command: Command) -> str:
    specs = [_quoted(spec) for option in command.options for spec in _zsh_specs(option)]
    if command.commands:
        specs += ["'1: :->command'", "'*:: :->rest'"]
    elif command.values:
        specs.append(_quoted(f"*:value:({' '.join(command.values)})"))
    elif command.files or command.live:
        specs.append(_quoted(f"*:{_zsh_value(command.files, command.live)}"))
    lines = [
        f"{_zsh_name(command.path)}() {{",
        "    local context state state_descr line",
        "    typeset -A opt_args",
        "    _arguments -C \\",
        *(f"        {spec} \\" for spec in specs[:-1]),
        *(f"        {spec}" for spec in specs[-1:]),
    ]
    if command.commands:
        described = [_quoted(f"{name}:{text}") for name, text in command.commands.items()]
        calls = [f"        {n}) {_zsh_name((*command.path, n))} ;;" for n in command.commands]
        lines += [
            "    case $state in",
            f"    command) local -a found=({' '.join(described)}); _describe command found ;;",
            "    rest) case $words[1] in",
            *calls,
            "        esac ;;",
            "    esac",
        ]
    return "\n".join([*lines, "}", ""])


def _zsh_specs(option: Option) -> list[str]:
    text = option.text.replace("[", "(").replace("]", ")").replace(":", "\\:")
    action = ""
    if option.values:
        action = f":value:({' '.join(option.values)})"
    elif option.takes_value:
        action = f":{_zsh_value(option.files, option.live)}"
    return [f"*{name}[{text}]{action}" for name in option.names]


def _zsh_value(files: bool, live: str) -> str:
    """What a value is called, and who completes it; a space keeps zsh from adding arguments."""
    if live:
        return f"{live}: _leeway_live_or_file {live}" if files else f"{live}: _leeway_live {live}"
    return "file:_files" if files else "value:"


def _zsh_name(path: tuple[str, ...]) -> str:
    return "_" + "_".join(path)


def fish(commands: Sequence[Command]) -> str:
    """A script for fish."""
    lines = ["# fish completion for leeway; made by `leeway completion fish`.", _FISH_PATH]
    for command in commands:
        start = f"complete -c leeway -n '__leeway_at {_words(command.path[1:])}'"
        lines.append(f"{start} {'-F' if command.files else '-f'}")
        lines += [f"{start} -a {n} -d {_quoted(text)}" for n, text in command.commands.items()]
        lines += [f"{start} -a {value}" for value in command.values]
        lines += [f"{start} -a {_fish_live(command.live)}"] if command.live else []
        for option in command.options:
            lines.append(f"{start} {_fish_option(option)} -d {_quoted(option.text)}")
    return "\n".join(lines) + "\n"


_FISH_PATH: Final = """\
function __leeway_at  # whether the command typed so far is this one
    set -l typed (commandline -opc)
    set -l commands (string match -v -- '-*' $typed[2..])
    test (count $commands) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test $commands[$i] = $argv[$i]; or return 1
    end
    test (count $argv) -gt 0; or test (count $commands) -eq 0
end"""


def _fish_option(option: Option) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    if option.values:
        names.append(f"-x -a {_quoted(' '.join(option.values))}")
    elif option.live:
        names.append(f"-x -a {_fish_live(option.live)}")
    elif option.takes_value:
        names.append("-r -F" if option.files else "-x")
    return " ".join(names)


def _fish_live(what: str) -> str:
    typed = "(commandline -opc)[2..] (commandline -ct)"
    return f"'(leeway {LIVE} {what} {typed} 2>/dev/null)'"


def _words(path: tuple[str, ...]) -> str:
    return " ".join(path)


def _quoted(text: str) -> str:
    return shlex.quote(text)


SCRIPTS: Final[Mapping[str, Callable[[Sequence[Command]], str]]] = {
    "bash": bash,
    "fish": fish,
    "zsh": zsh,
}
