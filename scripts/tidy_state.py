# SPDX-License-Identifier: BSD-3-Clause
"""Rules of tidy.py on lists that pages and heads keep: state outside of the job, places of waits.

A rule takes a SourceFile of tidy.py and yields (line, rule, message).
"""

import re

STATE_LIST = "docs/STATE.md"
STATE_ROW = re.compile(r"^\| `(src/[\w/]+\.c)` \|")
NO_OBJECT = {"extern", "typedef", "_Static_assert", "static_assert", "_Pragma", "asm"}
WAITS_LIST = "src/core/progress/wait.h"
WAITS_ROOMS = ("core", "notify", "coll", "near", "net", "ratomic", "vis")
SLEEPS = {"nanosleep", "clock_nanosleep", "usleep", "sched_yield", "tmb_os_yield", "tmb_os_nsleep"}


def read_state_list(root):
    """{file: line} of the files that STATE_LIST names as owners of state."""
    path = root / STATE_LIST
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    rows = ((STATE_ROW.match(line), number) for number, line in enumerate(lines, 1))
    return {match.group(1): number for match, number in rows if match}


def _closing(tokens, i):
    """Index of the bracket that closes the one at `i`."""
    pair = {"{": "}", "(": ")", "[": "]"}[tokens[i].text]
    depth = 0
    for j in range(i, len(tokens)):
        depth += {tokens[i].text: 1, pair: -1}.get(tokens[j].text, 0)
        if depth == 0:
            return j
    return len(tokens) - 1


def _declaration(tokens, start):
    """(words up to the end or the initialiser, index after it): bodies of types are left out, and
    of parentheses those of macros. The words are None for a function or its prototype."""
    words, i = [], start
    while i < len(tokens):
        text = tokens[i].text
        if text == ";":
            return words, i + 1
        if text == "=":
            while i < len(tokens) and tokens[i].text != ";":
                i = (_closing(tokens, i) if tokens[i].text in "{(" else i) + 1
            return words, i + 1
        if text == "(":
            pointer = i + 1 < len(tokens) and tokens[i + 1].text == "*"
            macro = not words or words[-1].isupper() or words[-1] in ("__attribute__", ")")
            if not pointer and not macro:
                while i < len(tokens) and tokens[i].text not in ";{":
                    i = (_closing(tokens, i) if tokens[i].text == "(" else i) + 1
                return None, i + 1 if i < len(tokens) and tokens[i].text == ";" else i
            words += [token.text for token in tokens[i : _closing(tokens, i) + 1] if pointer]
            i = _closing(tokens, i) + 1
            continue
        if text in "{[":
            words += ["{}"] if text == "{" else []
            i = _closing(tokens, i) + 1
            continue
        words.append(text)
        i += 1
    return None, i  # calls of macros end the file


def _mutable_object(words):
    """Whether a declaration makes an object that can change."""
    if not words or words[0] in NO_OBJECT:
        return False
    plain = [w for w in words if not w.isupper() and w not in ("__attribute__")]
    type_only = plain and (plain[-1] == "{}" or len(plain) == 2)
    if type_only and plain[0] in ("struct", "union", "enum"):
        return False
    star = len(words) - 1 - words[::-1].index("*") if "*" in words else 0
    return "const" not in words[star:]


def _static_in_functions(tokens):
    """Declarations inside functions that begin with `static`."""
    for i, token in enumerate(tokens):
        if token.text in ("static", "_Thread_local") and i and tokens[i - 1].text in ";{}:":
            yield token.line, _declaration(tokens, i)[0]


def _declarations(tokens):
    """All declarations of variables with static storage: (line, words)."""
    i = 0
    while i < len(tokens):
        line = tokens[i].line
        words, after = _declaration(tokens, i)
        if words is None and after < len(tokens) and tokens[after].text == "{":
            end = _closing(tokens, after)
            yield from _static_in_functions(tokens[after : end + 1])
            after = end + 1
        elif words:
            yield line, words
        i = max(after, i + 1)


def mutable_state(file):
    """Lines of variables with static storage that can change, the job itself apart."""
    if not (file.path.startswith("src/") and file.path.endswith(".c")) or file.is_test:
        return []
    found = ((line, words) for line, words in _declarations(file.tokens) if words)
    return [line for line, words in found if _mutable_object(words) and words[-1] != "tmb_job"]


def check_state(file, listed):
    """Mutable variables only in files that STATE_LIST names."""
    if file.path in listed:
        return
    for line in mutable_state(file):
        yield (
            line,
            "state",
            f"a variable that can change lives outside struct tmb_job: move it there, or give "
            f"{file.path} a row in the table of {STATE_LIST}",
        )


def check_state_list(files, listed):
    """Rows of the table whose file has no state, or does not exist."""
    owners = {file.path for file in files if mutable_state(file)}
    for path, line in sorted(listed.items()):
        if path not in owners:
            yield f"{STATE_LIST}:{line}: state: {path} has no variable that can change; remove it"


def read_waits(root):
    """Names of the files whose loops the head of WAITS_LIST allows; None without that file."""
    path = root / WAITS_LIST
    if not path.is_file():
        return None
    head = path.read_text(encoding="utf-8").split("*/\n#", 1)[0]
    return {*re.findall(r"[\w/]+\.c\b", head), "progress/wait.c"}


def sleeps(file):
    """Lines that call a function of SLEEPS."""
    top, room = file.path.split("/")[:2] if "/" in file.path else ("", "")
    if top != "src" or room not in WAITS_ROOMS or file.path.endswith("_test.c"):
        return []
    pairs = zip(file.tokens, file.tokens[1:])
    return [token.line for token, after in pairs if token.text in SLEEPS and after.text == "("]


def check_sleeps(file, waits):
    """A thread yields or sleeps in wait.c, and in the files that WAITS_LIST names."""
    if waits is None or any(file.path.endswith("/" + name) for name in waits):
        return
    for line in sleeps(file):
        yield line, "sleeps", f"wait by {WAITS_LIST}, or name the file and the reason there"


def check_waits_list(files, waits):
    """Names in WAITS_LIST of files that do not wait."""
    owners = [file.path for file in files if sleeps(file)]
    for name in sorted(waits or ()):
        inside = not name.startswith(("os/", "boot/"))
        if inside and not any(path.endswith("/" + name) for path in owners):
            yield f"{WAITS_LIST}:1: sleeps: {name} neither yields nor sleeps; remove it"
