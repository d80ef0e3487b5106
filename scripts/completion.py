#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Completion of the command `tombolo` for bash, zsh and fish, from the manual pages.

Usage: completion.py FOLDER    writes the files there (the build: build/completion)

scripts/man.py writes the pages from the help of the commands, so the help is the only source, and
a build without some of the commands gives the same files.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "man"
FLAG = re.compile(r"(?<![\w=-])(--?[A-Za-z?][\w-]*)(\[?=[^,\s]+| [A-Z][\w:=,]*)?")
# Their arguments are not files.
NO_FILES = {"ps", "info", "doctor", "why", "top", "explain", "version", "help"}
NUMBERS = "tombolo explain --list 2>/dev/null | cut -d' ' -f 1 | sort -u"
PROGRAMS = ("run", "upcrun")  # what follows their first argument is the program's
FILE_WORDS = re.compile(r"FILE|DIR|COMMAND|PATH|PROGRAM")
NOTE = "Written by scripts/completion.py from the manual pages."
SUMMARY_CHARACTERS = 70


class Option:
    """One option: its spellings, the word for its argument ("" if none), and what it does."""

    def __init__(self, text, summary):
        found = FLAG.findall(text)
        self.names = list(dict.fromkeys(name for name, _ in found))
        self.optional = any(argument.startswith("[") for _, argument in found)
        arguments = [a.strip(" [=]").split("[")[0] for _, a in found]
        self.argument = next((a for a in arguments if a), "")
        self.summary = summary


def plain(line):
    """A line of a page without the formatter's marks."""
    return line.removeprefix("\\&").replace("\\-", "-").replace("\\e", "\\")


def shorten(words):
    """The first clause of what an option does."""
    text = re.split(r"[;(]|: |\. ", " ".join(words))[0].strip()
    if len(text) > SUMMARY_CHARACTERS:
        text = text[:SUMMARY_CHARACTERS].rsplit(" ", 1)[0] + " ..."
    return text


def options_of(page):
    """The options of a page."""
    lines, found, at = page.read_text().splitlines(), [], 0
    while at < len(lines):
        if lines[at] == ".TP" and lines[at + 1].startswith(".B "):
            text, words = plain(lines[at + 1][3:]), []
            at += 2
            while at < len(lines) and not lines[at].startswith("."):
                words.append(plain(lines[at]))
                at += 1
            option = Option(text, shorten(words))
            if option.names:
                found.append(option)
        else:
            at += 1
    return found


def words_of(name):
    """What a command takes beside options and files: suites of bench, experiments of sim."""
    text = plain((PAGES / f"tombolo-{name}.1").read_text().replace("\\-", "-"))
    if name == "bench":
        return re.findall(r"[a-z0-9]+", re.search(r"^SUITE is (.*?) \(", text, re.M | re.S)[1]
                          .replace(" or ", " "))
    found = text.partition("Experiments:")[2].partition("  --machine")[0]
    return [word for line in re.findall(r"^  ([a-z][a-z-]*(?:, [a-z-]+)*)  ", found, re.M)
            for word in line.split(", ")]


def machines():
    """The described machines of sim."""
    return sorted(path.stem for path in (ROOT / "tools/sim/machines").glob("*.json"))


def of_experiments(options):
    """The options of sim that its page names beside the experiments only; all take a value."""
    text = plain((PAGES / "tombolo-sim.1").read_text().replace("\\-", "-"))
    known = {name for option in options for name in option.names}
    found = dict.fromkeys(re.findall(r"--[a-z][a-z-]+(?= [A-Z0-9a-z])", text))
    return [Option(f"{name} VALUE", "of the experiment") for name in found if name not in known]


def commands():
    """[(name, summary, [Option])], as the page of tombolo lists them."""
    text = plain((PAGES / "tombolo.1").read_text().replace("\\-", "-"))
    found = []
    for name, summary in re.findall(r"^  ([\w+]+) +(\S.*)$", text, re.M):
        page = PAGES / f"tombolo-{name}.1"
        if page.exists():
            options = options_of(page)
            options += of_experiments(options) if name == "sim" else []
            found.append((name, summary, options))
    return [*found, ("version", "show the version", []), ("help", "list the commands", [])]


def bash(table):
    """The file for bash."""
    cases = []
    for name, _, options in table:
        words, takes = [], []
        for o in options:
            for flag in o.names:
                joined = o.argument and flag.startswith("--")
                words.append(flag + ("=" if joined and not o.optional else ""))
                if o.argument and not o.optional:
                    takes.append(flag)
        if words:
            cases.append(f"    {name})\n      options='{' '.join(words)}'\n"
                         f"      takes='{' '.join(takes)}' ;;")
    names = " ".join(name for name, _, _ in table)
    programs = "|".join(PROGRAMS)
    no_files = "|".join(sorted(NO_FILES))
    return f"""# bash completion for tombolo -*- shell-script -*-
# SPDX-License-Identifier: BSD-3-Clause
# {NOTE}
_tombolo() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} name=${{COMP_WORDS[1]}} options='' takes='' i word option
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{names}' -- "$cur")
    return
  fi
  case $name in
{chr(10).join(cases)}
  esac
  case $name in
    {programs}) # behind the program everything is its own
      for ((i = 2; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        if [[ $word == '=' || " $takes " == *" $word "* && ${{COMP_WORDS[i + 1]}} != '=' ]]; then
          ((i++))
        elif [[ $word != -* ]]; then
          return
        fi
      done ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]]; then compopt -o nospace; fi
    return
  fi
  case $name in
    bench) word='{" ".join(words_of("bench"))}' ;;
    sim) word='{" ".join(words_of("sim"))}' ;;
    explain) word=$({NUMBERS}) ;;
    help) word='{names}' ;;
    *) word='' ;;
  esac
  option=${{COMP_WORDS[COMP_CWORD - 1]}}
  [[ $option != '=' ]] || option=${{COMP_WORDS[COMP_CWORD - 2]}}
  if [[ $option == --machine ]]; then
    word='{" ".join(machines())}'
  elif [[ " $takes " == *" $option "* ]]; then
    word='' # a value, of which nothing is known
  fi
  mapfile -t COMPREPLY < <(compgen -W "$word" -- "${{cur#=}}")
  case $name in
    {no_files}) compopt +o default +o bashdefault ;;
  esac
}} 2>/dev/null
complete -o bashdefault -o default -F _tombolo tombolo
"""


def zsh_quote(text):
    """Text between single quotes, where brackets and colons have a meaning."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh(table):
    """The file for zsh."""
    cases = []
    for name, _, options in table:
        lines = []
        for o in options:
            others = " ".join(o.names)
            for flag in o.names:
                form = flag if not o.argument else flag + ("=-" if o.optional else "=") \
                    if flag.startswith("--") else flag + "+"
                words = f"({others}){form.replace('?', chr(92) + '?')}[{zsh_quote(o.summary)}]"
                if o.argument:
                    action = "_files" if FILE_WORDS.search(o.argument) else ""
                    if "--machine" in o.names:
                        action = f"({' '.join(machines())})"
                    colon = "::" if o.optional else ":"
                    words += f"{colon}{zsh_quote(o.argument)}:{action}"
                if "-E" in o.names or "may be repeated" in o.summary:
                    words = "*" + words[len(others) + 2:]
                lines.append(f"        '{words}'")
        if name in PROGRAMS:
            lines += ["        '1:program:_files'", "        '*::arguments: _default'"]
        elif name in ("bench", "sim"):
            lines.append(f"        '*:word:({' '.join(words_of(name))})'")
        elif name == "explain":
            lines.append("        '1:number:($(" + NUMBERS.replace("'", "'\\''") + "))'")
        elif name not in NO_FILES:
            lines.append("        '*:file:_files'")
        if options:
            start = "_arguments -S" if name not in PROGRAMS else "_arguments -A '-*'"
            cases.append(f"    {name})\n      {start} \\\n" + " \\\n".join(lines) + "\n      ;;")
    described = "\n".join(f"    '{name}:{zsh_quote(summary)}'" for name, summary, _ in table)
    return f"""#compdef tombolo
# SPDX-License-Identifier: BSD-3-Clause
# {NOTE}
_tombolo() {{
  local -a commands
  commands=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'command of tombolo' commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{chr(10).join(cases)}
    help) _describe -t commands 'command of tombolo' commands ;;
    version) ;;
    *) _files ;;
  esac
}}
_tombolo "$@"
"""


def fish_quote(text):
    """Text between single quotes."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


FISH_AT = """# Whether the command line is one of a command, and no program stands in it that
# would take what follows. Arguments: the command; behind it, for those that start programs,
# "program" and the options whose argument is a word of its own.
function __tombolo_at
  set -l words (commandline -opc)
  test "$words[2]" = "$argv[1]"; or return 1
  test "$argv[2]" = program; or return 0
  set -l i 3
  while test $i -le (count $words)
    if contains -- $words[$i] $argv[3..-1]
      set i (math $i + 2)
    else if string match -q -- '-*' $words[$i]
      set i (math $i + 1)
    else
      return 1
    end
  end
end
"""


def fish(table):
    """The file for fish."""
    lines = ["# SPDX-License-Identifier: BSD-3-Clause", f"# {NOTE}", FISH_AT.rstrip("\n")]
    for name, summary, _ in table:
        lines.append("complete -c tombolo -f -n __fish_use_subcommand "
                     f"-a {name} -d '{fish_quote(summary)}'")
    for name, _, options in table:
        words = [n for o in options for n in o.names if o.argument and not o.optional]
        program = f" program {' '.join(words)}" if name in PROGRAMS else ""
        seen = f"-n '__tombolo_at {name}{program}'"
        if name in NO_FILES:
            lines.append(f"complete -c tombolo -f {seen}")
        if name in ("bench", "sim"):
            lines.append(f"complete -c tombolo -f {seen} -a '{' '.join(words_of(name))}'")
        if name == "help":
            names = " ".join(other for other, _, _ in table)
            lines.append(f"complete -c tombolo -f {seen} -a '{names}'")
        if name == "explain":
            lines.append(f"complete -c tombolo -f {seen} -a \"({NUMBERS})\"")
        for o in options:
            flags = []
            for flag in o.names:
                bare = flag.lstrip("-")
                kind = "-l" if flag.startswith("--") else "-s" if len(bare) == 1 else "-o"
                flags.append(f"{kind} '{bare}'")
            if o.argument and not o.optional:
                flags.append("-r" if FILE_WORDS.search(o.argument) else "-x")
            if "--machine" in o.names:
                flags.append(f"-a '{' '.join(machines())}'")
            lines.append(f"complete -c tombolo {seen} {' '.join(flags)} "
                         f"-d '{fish_quote(o.summary)}'")
    return "\n".join(lines) + "\n"


def main():
    """Writes the files."""
    folder, table = Path(sys.argv[1]), commands()
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("tombolo.bash", bash), ("_tombolo", zsh), ("tombolo.fish", fish)):
        (folder / name).write_text(make(table))


if __name__ == "__main__":
    main()
