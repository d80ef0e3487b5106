#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the house rules that a script can check (docs/ARCHITECTURE.md, CONTRIBUTING.md, LAYERS).

Usage: tidy.py [--root DIR] [--list-rules] [PATH...]
Without paths the whole tree is checked, including the gates over all functions. Prints
`file:line: rule: message` and exits 1 when something was found. A line (or the line after it) is
excused from one rule by the comment `tidy-allow: RULE because REASON`; the number of excuses is
printed.
"""

import argparse
import functools
import os
import re
import sys
from pathlib import Path

import ctokens

MAX_LINE = 100
MAX_LINE_TABLE = 120  # rows of a .def table
MAX_FUNCTION = 70
MAX_PARAMS = 6
MAX_COMPLEXITY = 15
MAX_FILE_LINES = 1000
MAX_NAME = 32
P90_LINES = 40
P99_LINES = 60
GATE_MIN_FUNCTIONS = 100

FOLDERS = ("include", "src", "plugins", "coarray", "tools", "bench", "study",
           "examples", "tests", "upc")
FOLDERS += ("prif", "shmem", "check", "replay", "scripts", "cmake", "bindings")
C_ENDINGS = (".c", ".h", ".hpp", ".cc", ".def")
ENDINGS = C_ENDINGS + (".py", ".sh", ".cmake", ".map", ".in")
PUBLIC = ("gex_", "gexx_", "gasnet_", "gasnett_")
BRANCHES = {"if", "for", "while", "switch", "catch", "&&", "||", "?"}
BANNED = {
    "strcpy": "snprintf or memcpy with a known size",
    "strcat": "snprintf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "gets": "fgets",
    "alloca": "malloc or a fixed array",
}
LOCALE = dict.fromkeys("strtod strtof strtold atof".split(), "tmb_ascii_strtod (base/ascii.h)")
LOCALE |= dict.fromkeys("strcasecmp strncasecmp".split(), "tmb_ascii_same (base/ascii.h)")
LOCALE |= dict.fromkeys("toupper tolower isalpha isalnum isupper islower isspace".split(),
                        "the functions of base/ascii.h")
LOCALE_OK = ("_test.c", "_test.h", "src/base/ascii.h")
LOCALE_IN = ("src/", "coarray/", "prif/", "upc/runtime/", "bindings/")
PRINTERS = {"snprintf", "fprintf", "printf", "dprintf"}
REAL = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?L?[feEgGaA]")
PLATFORM = re.compile(
    r"\b(__linux__|__linux|__APPLE__|__MACH__|_WIN32|_WIN64|__FreeBSD__|__NetBSD__"
    r"|__OpenBSD__|__CYGWIN__|__ANDROID__|__x86_64__|__i386__|__amd64__|__aarch64__|__arm__|__riscv"
    r"|__powerpc\w*|__PPC\w*|__s390x?__|__sun)\b"
)
PLATFORM_OK = (
    "src/os/",
    "src/base/",
    "include/gasnet_portable_platform.h",
    "include/tombolo/tools/",
    "include/gasnet_tools.h",
)
ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc", "strdup", "strndup"}
GENERATED = {"build_info.h"}
ROOM_TREES = ("src/", "tools/", "coarray/", "prif/", "shmem/", "upc/", "include/tombolo/")
ROOM_ENDINGS = (".c", ".h", ".cc", ".def")
ROOM_FILES = 20
RULES = (
    "spdx",
    "head",
    "line-length",
    "file-lines",
    "function-lines",
    "params",
    "complexity",
    "name-length",
    "doc",
    "layers",
    "include-c",
    "banned",
    "getenv",
    "sleeps",
    "locale",
    "malloc",
    "assert",
    "vla",
    "platform",
    "atomics",
    "macro-flow",
    "state",
    "words",
    "prints",
    "tuning",
    "sentence",
    "gate",
    "path",
)


def read_words(text):
    """The words in bold of the last table of docs/TERMS.md, and what stands for each."""
    rows = re.findall(r"^\| (.*) \| (.*) \|$", text.partition("## Instead of")[2], re.M)
    return {w.lower(): use for cell, use in rows for w in re.findall(r"\*\*([^*]+)\*\*", cell)}


WORDS = read_words((Path(__file__).resolve().parent.parent / "docs/TERMS.md").read_text())
WORD = re.compile(r"(?<![a-z])(" + "|".join(WORDS) + r")s?(?![a-z])", re.I)
WORDS_OK = ("docs/TERMS.md", "docs/DECISIONS/", "study/journal/", "scripts/tidy.py",
            "scripts/tidy_test.py")
PATH = re.compile(
    r"(?<![\w/.$<{*-])((?:src|docs|tests|scripts|cmake|coarray|prif|upc|tools|study)/"
    r"(?![\w/.-]*(?:NAME|ROOM|\bx\.))[\w/.-]*\w\.(?:c|h|cc|hpp|py|sh|md|def|cmake|upc|f90|litmus))"
    r"(?![\w.*-]*\w)"
)
PATHS_OK = ("study/journal/", "docs/DECISIONS/")  # they name files of their time
MAX_SENTENCE = 32  # words; 25 is what to aim at
HISTORY = ("study/FIGURES", "study/journal/", "CHANGELOG.md")  # written by a script; lists
TUNED = ("src/core/", "src/net/")
NUMBER = re.compile(r"\s*#\s*define\s+(\w+)\s+((?:\(*(?:UINT\d\d_C|size_t|uintptr_t)|[\d(]).*)")
KNOWN_NUMBERS = {"_GNU_SOURCE", "GASNET_PAR", "NS_PER_S", "HAS_WIDE"}
BASIS = re.compile(r"\b([Cc]hosen|[Mm]easured|[Ff]ixed|[Ee]stimate|RFC \d+)\b")
COMPARISONS = {"==", "!=", "<", ">", "<=", ">="}
ALLOW = re.compile(r"tidy-allow: ([a-z-]+) because \S+")


class SourceFile:
    """One file with everything that the rules read from it, computed once."""

    def __init__(self, root, path):
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.split("\n")
        if self.lines and self.lines[-1] == "":
            self.lines.pop()
        self.is_c = path.endswith(C_ENDINGS)
        self.is_test = path.endswith("_test.c") or path.startswith("tests/")
        self.in_library = (
            path.startswith(("src/", "include/", "plugins/", "tools/")) and not self.is_test
        )
        self.functions, self.tokens, self.directives, self.code = [], [], [], ""
        if self.is_c:
            self.code = ctokens.blank_comments(self.text)
            plain, self.directives = ctokens.split_directives(self.code)
            self.tokens = ctokens.tokenize(plain)
            if not path.endswith(".def"):
                self.functions = ctokens.find_functions(self.tokens, self.directives)


# ---- rules on text
def check_head(file):
    """SPDX first (after a #! line); C files then carry a comment that says what the file is."""
    first = 1 if file.lines and file.lines[0].startswith("#!") else 0
    if len(file.lines) <= first or "SPDX-License-Identifier: BSD-3-Clause" not in file.lines[first]:
        yield first + 1, "spdx", "the first line must be the SPDX line: BSD-3-Clause"
        return
    if not file.is_c:
        return
    match = re.match(r"(?:\s*(?:/\*.*?\*/|//[^\n]*))+", file.text, re.S)
    head = [line for line in match.group().split("\n") if re.search(r"\w", line)] if match else []
    short = file.is_test or file.path.startswith("examples/")
    least = 1 if short else 3
    if len(head) - 1 < least:
        yield 1, "head", f"a comment after the SPDX line must say what this file is ({least} lines)"


def check_lines(file):
    """Line length, and file length where documentation in public headers does not count."""
    limit = MAX_LINE_TABLE if file.path.endswith(".def") else MAX_LINE
    for number, line in enumerate(file.lines, 1):
        if len(line) > limit:
            yield number, "line-length", f"{len(line)} columns, at most {limit}"
    count = len(file.lines)
    if file.path.startswith("include/"):
        count = sum(1 for line in file.code.split("\n") if line.strip())
    if count > MAX_FILE_LINES and file.is_c:
        yield 1, "file-lines", f"{count} lines, at most {MAX_FILE_LINES}"


def check_words(file):
    """Words of docs/TERMS.md that have a better one, in names, comments, messages and pages."""
    if file.path.startswith(WORDS_OK):
        return
    for number, line in enumerate(file.lines, 1):
        for match in WORD.finditer(line):
            word = match.group(1).lower()
            yield number, "words", f"{word}: write {WORDS[word]} (docs/TERMS.md)"


def check_paths(file, root):
    """Files that pages and comments name by their folder exist; NAME, ROOM and x stand for any."""
    if file.path.startswith(PATHS_OK):
        return
    for number, line in enumerate(file.lines, 1):
        if line.startswith("    " if file.path.endswith(".md") else "#"):
            continue
        for name in PATH.findall(line):
            if not (root / name).exists():
                yield number, "path", f"{name} does not exist"


def _plain_number(value):
    """Whether a macro's value is made of numbers alone; a hexadecimal one is a pattern, no size."""
    value = re.sub(r"\bUINT\d\d_C\b|\bsize_t\b|\buintptr_t\b|\b\d[\w.]*", "", value)
    return not re.search(r"[A-Za-z_]", value)


def check_tuning(file):
    """A number says in its comment, or in one above it in its paragraph, what it is based on."""
    if not file.path.startswith(TUNED) or "_test." in file.path:
        return
    based = inside = False
    for number, line in enumerate(file.lines, 1):
        if not line.strip():
            based = inside = False
            continue
        alone = inside or line.lstrip().startswith("/*")
        based = based or (alone and BASIS.search(line) is not None)
        inside = alone and "*/" not in line
        match = NUMBER.match(line)
        if not match or match.group(1) in KNOWN_NUMBERS or "0x" in line:
            continue
        value, _, comment = match.group(2).partition("/*")
        if _plain_number(value) and not based and not BASIS.search(comment):
            text = "say whether it was chosen or measured, and by what, or what it is fixed by"
            yield number, "tuning", f"{match.group(1)}: {text}"


def _paragraphs(lines):
    """Text of a page as (line number, text): paragraphs, items of lists, cells of tables."""
    text, start, code = [], 0, False
    for number, line in enumerate([*lines, ""], 1):
        fence, row = line.startswith("```"), line.startswith("|")
        code ^= fence
        item = re.match(r"\s*([*-]|\d+\.) ", line)
        plain = not (code or fence or row or line.startswith("#") or not line.strip())
        if text and (item or not plain):
            yield start, " ".join(text)
            text = []
        if row:
            yield from ((number, cell) for cell in line.split("|"))
        elif plain and (text or item or not line.startswith("    ")):
            start = start if text else number
            text.append(line.strip())


def check_sentences(file):
    """Sentences, or their parts up to a colon or semicolon; `code` counts as one word."""
    if file.path.startswith(HISTORY):
        return
    for number, text in _paragraphs(file.lines):
        text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "Code", text))
        for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z*\[(\"0-9])|(?<=;)\s+", text):
            count = len(re.findall(r"[^\W_][\w'.,/%-]*", part))
            if count > MAX_SENTENCE:
                start = " ".join(part.split()[:6])
                text = f"{count} words, at most {MAX_SENTENCE}: {start} ..."
                yield number, "sentence", text


# ---- rules on functions
def complexity_of(function):
    """Modified cyclomatic complexity: a switch counts once, whatever its number of cases."""
    return 1 + sum(1 for token in function.body if token.text in BRANCHES)


def check_functions(file):
    """Length, parameters (not for public API, whose signatures are given), complexity, names."""
    for function in file.functions:
        where, name = function.line, function.name
        length = function.end - function.line + 1
        if length > MAX_FUNCTION:
            yield where, "function-lines", f"{name} has {length} lines, at most {MAX_FUNCTION}"
        macro = name.isupper()  # DBG_CASE(...) {: its arguments are no parameters
        if function.params > MAX_PARAMS and not macro and not name.startswith(PUBLIC):
            yield where, "params", f"{name} has {function.params} parameters, at most {MAX_PARAMS}"
        if complexity_of(function) > MAX_COMPLEXITY:
            yield (
                where,
                "complexity",
                f"{name} has complexity {complexity_of(function)}, at most {MAX_COMPLEXITY}",
            )
        if name.startswith("tmb_") and len(name) > MAX_NAME:
            yield where, "name-length", f"{name} has {len(name)} characters, at most {MAX_NAME}"


def check_docs(file):
    """Each public function declared in include/ stands in a paragraph that holds a comment."""
    if not file.path.startswith("include/"):
        return
    documented = set()
    for name, line in ctokens.find_declarations(file.tokens, PUBLIC):
        top = line - 1
        while top > 0 and file.lines[top - 1].strip():
            top -= 1
        paragraph = "\n".join(file.lines[top:line])
        if "*/" in paragraph or "//" in paragraph:
            documented.add(name)
        elif name not in documented:
            yield line, "doc", f"{name} needs a doc comment just before it"


# ---- rules on tokens
def check_banned(file):
    """Calls that may not be used at all, and getenv outside its one file."""
    may_getenv = file.path == "src/base/config.c" or not file.in_library
    for token, after in zip(file.tokens, file.tokens[1:]):
        if after.text != "(":
            continue
        if token.text in BANNED:
            yield token.line, "banned", f"{token.text}: use {BANNED[token.text]}"
        if token.text in ("getenv", "secure_getenv") and not may_getenv:
            yield token.line, "getenv", "use the settings of src/base/config.h (tmb_env_get)"


def check_locale(file):
    """The client may set a locale: the library reads and prints by base/ascii.h and base/fmt.h."""
    if not file.path.startswith(LOCALE_IN) or file.path.endswith(LOCALE_OK):
        return
    for i, token in enumerate(file.tokens[:-1]):
        if file.tokens[i + 1].text != "(":
            continue
        if token.text in LOCALE:
            yield token.line, "locale", f"{token.text}: use {LOCALE[token.text]}"
        elif token.text in PRINTERS:
            last = file.tokens[_call_end(file.tokens, i + 1) - 1].line
            call = "".join(file.lines[token.line - 1 : last])
            if REAL.search(call.replace("%%", "")):
                yield token.line, "locale", f"{token.text} of a real number: use tmb_fmt_print"


def _call_end(tokens, first):
    """Index behind the parenthesis that closes the one at `first`."""
    depth = 0
    for i in range(first, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i + 1
    return len(tokens)


def check_atomics(file):
    """Compiler atomics only in base/atomic.h and the public headers."""
    if not file.path.startswith(("src/", "tools/")) or file.path == "src/base/atomic.h":
        return
    for token in file.tokens:
        if token.text.startswith(("__atomic_", "__sync_")) or token.text == "_Atomic":
            yield token.line, "atomics", f"{token.text}: use the helpers of src/base/atomic.h"
    for directive in file.directives:
        if re.match(r"#\s*include\s*<stdatomic\.h>", directive.text):
            yield directive.line, "atomics", "stdatomic.h: use the helpers of src/base/atomic.h"


def _statements(function):
    """The body's statements as lists of tokens, split at ; { and }."""
    statement, depth = [], 0
    for token in function.body:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text in "{}" or (token.text == ";" and depth == 0):
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)


def _malloc_target(texts):
    """The variable that receives the result; None when used on the spot; "" when all is well."""
    call = next(i for i, text in enumerate(texts) if text in ALLOCATORS)
    if texts[0] in ("return", "if", "while") or "?" in texts:
        return ""
    if "=" not in texts[:call]:
        return None
    assign = texts.index("=")
    between = [t for t in texts[assign + 1 : call] if not re.match(r"[\w*() ]+$", t)]
    names = [t for t in texts[:assign] if ctokens.IDENT.match(t)]
    inside_call = any(
        ctokens.IDENT.match(a) and b == "(" and a not in ("sizeof",)
        for a, b in zip(texts[assign + 1 : call], texts[assign + 2 : call])
    )
    return None if between or inside_call or not names else names[-1]


def check_malloc(file):
    """The result of an allocation is tested before it is used: within the next four statements."""
    for function in file.functions:
        if not any(token.text in ALLOCATORS for token in function.body):
            continue
        statements = list(_statements(function))
        for i, statement in enumerate(statements):
            texts = [token.text for token in statement]
            calls = [t for t, n in zip(texts, texts[1:]) if t in ALLOCATORS and n == "("]
            if not calls:
                continue
            name = _malloc_target(texts)
            if name == "":
                continue
            tested = name is not None and any(_tests(s, name) for s in statements[i + 1 : i + 5])
            if not tested:
                what = (
                    "is used without a name"
                    if name is None
                    else f"({name}) is not tested right after"
                )
                yield statement[0].line, "malloc", f"the result of {calls[0]} {what}"


CHECKER = re.compile(r"(\w*assert\w*|CHECK\w*|REQUIRE\w*|\w*_check\w*|\w*_require\w*)$")


def _tests(statement, name):
    """Whether a statement tests or passes on the variable."""
    texts = [token.text for token in statement]
    if name not in texts:
        return False
    head = texts[0]
    return (
        head in ("if", "while", "return")
        or "?" in texts
        or "&&" in texts
        or "||" in texts
        or "!" in texts
        or CHECKER.match(head) is not None
    )


SIDE_EFFECTS = {"++", "--", "=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<=", ">>="}


def check_assert(file):
    """assert(...) without a side effect: it may be compiled out."""
    tokens = file.tokens
    for i, token in enumerate(tokens[:-1]):
        if token.text not in ("assert", "tmb_assert") or tokens[i + 1].text != "(":
            continue
        depth = 0
        for inner in tokens[i + 1 :]:
            depth += {"(": 1, ")": -1}.get(inner.text, 0)
            if depth == 0:
                break
            if inner.text in SIDE_EFFECTS:
                yield inner.line, "assert", f"side effect in {token.text}: {inner.text}"
                break


def check_prints(file):
    """assert_true(a == b) does not print a and b; one with || is left alone."""
    if not file.path.endswith("_test.c"):
        return
    for i, token in enumerate(file.tokens[:-1]):
        if token.text != "assert_true" or file.tokens[i + 1].text != "(":
            continue
        depth, top = 0, []
        for inner in file.tokens[i + 1 :]:
            depth += {"(": 1, ")": -1}.get(inner.text, 0)
            if depth == 0:
                break
            if depth == 1:
                top.append(inner.text)
        if COMPARISONS.intersection(top) and not {"||", "?"}.intersection(top):
            yield token.line, "prints", "compare by assert_int_equal or assert_cmp: they print both"


TYPE_START = {
    "char",
    "short",
    "int",
    "long",
    "unsigned",
    "signed",
    "float",
    "double",
    "size_t",
    "struct",
    "const",
    "void",
    "_Bool",
    "bool",
}


def check_vla(file):
    """No variable-length arrays. (-Wvla is exact; this also sees code that is not compiled.)"""
    for function in file.functions:
        for statement in _statements(function):
            texts = [token.text for token in statement]
            if not (texts[0] in TYPE_START or re.match(r"\w+_t$", texts[0])) or "[" not in texts:
                continue
            if "=" in texts[: texts.index("[")] or "(" in texts[: texts.index("[")]:
                continue
            size = texts[texts.index("[") + 1 : texts.index("]")]
            names = [t for t in size if ctokens.IDENT.match(t)]
            if names and "sizeof" not in size and all(name.islower() for name in names):
                yield statement[0].line, "vla", f"array of variable length [{' '.join(size)}]"


# ---- mutable variables that live as long as the process
STATE_LIST = "docs/STATE.md"
STATE_ROW = re.compile(r"^\| `(src/[\w/]+\.c)` \|")
NO_OBJECT = {"extern", "typedef", "_Static_assert", "static_assert", "_Pragma", "asm"}


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


# ---- threads that yield or sleep
WAITS_LIST = "src/core/progress/wait.h"
WAITS_ROOMS = ("core", "notify", "coll", "near", "net", "ratomic", "vis")
SLEEPS = {"nanosleep", "clock_nanosleep", "usleep", "sched_yield", "tmb_os_yield", "tmb_os_nsleep"}


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


# ---- rules on preprocessor lines
def _hidden_flow(macro):
    """`return` or `goto` in a macro, but not inside a whole function that the macro defines."""
    if "return" not in macro and "goto" not in macro:
        return None
    tokens = ctokens.tokenize(re.sub(r"^#\s*define\s+\w+(\([^)]*\))?", "", macro))
    inside = [token for function in ctokens.find_functions(tokens, []) for token in function.body]
    for word in ("return", "goto"):
        if sum(t.text == word for t in tokens) > sum(t.text == word for t in inside):
            return word
    return None


def check_directives(file):
    """Platform tests only at the bottom of the tree; no control flow hidden in macros."""
    for directive in file.directives:
        word = re.match(r"#\s*(\w+)", directive.text)
        kind = word.group(1) if word else ""
        if kind in ("if", "ifdef", "ifndef", "elif") and file.in_library:
            match = PLATFORM.search(directive.text)
            if match and not file.path.startswith(PLATFORM_OK):
                yield directive.line, "platform", f"{match.group()} belongs to src/os or src/base"
        if kind == "define" and file.in_library:
            word = _hidden_flow(directive.text)
            if word:
                yield directive.line, "macro-flow", f"a macro holds `{word}`"


def read_layers(root):
    """The rules of LAYERS as a list of (folder pattern, allowed prefixes)."""
    layers = []
    for number, line in enumerate((root / "LAYERS").read_text(encoding="utf-8").split("\n"), 1):
        line = line.split("#")[0].strip()
        if not line or line.startswith("circle:"):  # of files: check_calls.py
            continue
        folder, arrow, allowed = line.partition("->")
        if not arrow:
            raise SystemExit(f"LAYERS:{number}: expected `FOLDER -> ALLOWED...`")
        layers.append((folder.strip(), allowed.split()))
    return layers


@functools.lru_cache(maxsize=None)
def _prefix_length(path, pattern):
    """Components of `pattern` when `path` lies under it (`*` is one component), else 0."""
    parts, wanted = path.split("/"), pattern.split("/")
    if len(parts) < len(wanted) or (wanted[-1] == "*" and len(parts) == len(wanted)):
        return 0
    return len(wanted) if all(w in ("*", p) for p, w in zip(parts, wanted)) else 0


@functools.lru_cache(maxsize=None)
def _rule_of(path, folders):
    """Index of the longest rule that matches, and how many components of `path` it covers."""
    lengths = [_prefix_length(path, folder) for folder in folders]
    best = max(range(len(folders)), key=lambda i: (lengths[i], "*" not in folders[i]))
    return best, lengths[best]


def layer_of(path, layers):
    """(the folder of `path`, allowed prefixes) by the longest matching rule, or None."""
    best, length = _rule_of(path, tuple(folder for folder, _ in layers))
    return ("/".join(path.split("/")[:length]), layers[best][1]) if length else None


def allows(path, target, layers):
    """Whether the file `path` may use the file `target`; None: LAYERS has no rule for `path`."""
    layer = layer_of(path, layers)
    if layer is None:
        return None
    own, allowed = layer
    if layer_of(target, layers) is not None and layer_of(target, layers)[0] == own:
        return True
    for prefix in allowed:
        if prefix.endswith("/."):
            if os.path.dirname(target) == prefix[:-2]:
                return True
        elif target == prefix or target.startswith(prefix + "/"):
            return True
    return False


def find_circle(layers):
    """Folders of LAYERS of which each may use the next one and the last one the first, or None."""
    folders = [folder for folder, _ in layers if not folder.endswith((".h", ".c"))]
    uses = {
        folder: [
            other
            for other in folders
            if other != folder and allows(folder + "/x.c", other + "/x.c", layers)
        ]
        for folder in folders
        if "*" not in folder
    }
    done = set()

    def visit(folder, path):
        if folder in path:
            return path[path.index(folder) :]
        if folder in done:
            return None
        for other in uses.get(folder, []):
            circle = visit(other, path + [folder])
            if circle:
                return circle
        done.add(folder)
        return None

    return next((circle for circle in (visit(folder, []) for folder in uses) if circle), None)


def resolve_include(root, path, name, quoted):
    """The file of this tree that an #include names, or None."""
    places = [os.path.dirname(path)] if quoted else []
    places += ["include", "src", "tools", "tests/lib", "tests", "bench", "study", "upc/include"]
    places += ["", "coarray", "prif", "upc/runtime", "upc/compiler", "shmem/include"]
    places.append("bindings/python/src/ext")
    if path.startswith("tests/plugin/"):
        places.append("plugins/cuda")
    for place in places:
        candidate = os.path.normpath(os.path.join(place, name))
        if (root / candidate).is_file():
            return candidate
    return None


def check_includes(file, root, layers):
    """Every edge between two files of the tree is one that LAYERS allows."""
    for number, line in enumerate(file.lines, 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
        if not match:
            continue
        quoted, name = match.group(1) == '"', match.group(2)
        if name.endswith((".c", ".cc")):
            yield number, "include-c", f"{name}: no source file includes another"
        target = resolve_include(root, file.path, name, quoted)
        if target is None:
            if quoted and name not in GENERATED:
                yield number, "layers", f"{name} is not in this tree (system headers take <>)"
            continue
        allowed = allows(file.path, target, layers)
        if allowed is None:
            yield number, "layers", f"LAYERS has no rule for {file.path}"
        elif not allowed:
            folder = layer_of(file.path, layers)[0]
            yield number, "layers", f"{folder} may not include {target}"


# ---- whole tree
def check_gates(files):
    """The tail of all function lengths: 90 % and 99 % must stay short."""
    lengths = sorted(f.end - f.line + 1 for file in files for f in file.functions)
    if len(lengths) < GATE_MIN_FUNCTIONS:
        return
    for percent, limit in ((90, P90_LINES), (99, P99_LINES)):
        value = lengths[min(len(lengths) - 1, len(lengths) * percent // 100)]
        if value > limit:
            count = len(lengths)
            yield f"gate: {percent} % of {count} functions have up to {value} lines, not {limit}"


def check_circles(layers):
    """Folders that LAYERS lets use each other in a circle."""
    circle = find_circle(layers)
    if circle:
        yield f"LAYERS: circle: {' -> '.join([*circle, circle[0]])}"


def check_rooms(files, root):
    """A folder with sources has a README.md and holds at most ROOM_FILES of them, less tests."""
    rooms = {}
    for file in files:
        if file.path.startswith(ROOM_TREES) and file.path.endswith(ROOM_ENDINGS):
            tests = os.path.splitext(file.path)[0].endswith("_test")
            rooms.setdefault(os.path.dirname(file.path), []).append(not tests)
    for folder, sources in sorted(rooms.items()):
        if sum(sources) > ROOM_FILES:
            yield f"{folder}: room: {sum(sources)} sources, at most {ROOM_FILES}"
        if not (root / folder / "README.md").exists():
            yield f"{folder}: room: no README.md that says what comes in and what goes out"


def list_files(root, paths):
    """The files to check, relative to the root, sorted."""
    found = set()
    starts = [os.path.relpath(p, root) for p in paths] if paths else list(FOLDERS)
    for start in starts:
        if (root / start).is_file():
            found.add(start)
        for folder, dirs, names in os.walk(root / start):
            dirs[:] = [d for d in dirs if not d.startswith((".", "build", "__pycache__"))]
            found.update(os.path.relpath(os.path.join(folder, name), root) for name in names)
    if not paths:
        found.update(os.path.relpath(p, root) for p in root.glob("*.md"))
        found.update(os.path.relpath(p, root) for p in root.glob("docs/*.md"))
    wanted = ENDINGS + (".md", "CMakeLists.txt")
    return sorted(p for p in found if p.endswith(wanted))


def check_file(file, root, layers, listed, waits):
    """One file's findings as (line, rule, message), and how many a comment excuses."""
    rules = [check_head, check_lines, check_words]
    if file.path.endswith(".md"):
        rules = [check_words, check_sentences]
    if file.is_c:
        rules += [
            check_functions,
            check_docs,
            check_banned,
            check_locale,
            check_atomics,
            check_malloc,
            check_assert,
            check_prints,
            check_vla,
            check_directives,
            check_tuning,
        ]
    found = [finding for rule in rules for finding in rule(file)]
    if file.is_c or file.path.endswith(".md"):
        found += check_paths(file, root)
    if file.is_c:
        found += check_includes(file, root, layers)
        found += check_state(file, listed)
        found += check_sleeps(file, waits)
    allowed = {}
    for number, line in enumerate(file.lines, 1):
        for match in ALLOW.finditer(line):
            allowed.setdefault(match.group(1), set()).update((number, number + 1))
    kept = [f for f in found if f[0] not in allowed.get(f[1], ())]
    return sorted(kept), len(found) - len(kept)


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", default=Path(__file__).resolve().parent.parent, type=Path)
    parser.add_argument("--list-rules", action="store_true", help="print the rule names and stop")
    parser.add_argument("paths", nargs="*", help="files or folders; default: the whole tree")
    options = parser.parse_args(argv)
    if options.list_rules:
        print("\n".join(RULES))
        return 0
    root = options.root.resolve()
    layers, listed, waits = read_layers(root), read_state_list(root), read_waits(root)
    files = [SourceFile(root, path) for path in list_files(root, options.paths)]
    count = excused = 0
    for file in files:
        findings, allowed = check_file(file, root, layers, listed, waits)
        excused += allowed
        for line, rule, message in findings:
            print(f"{file.path}:{line}: {rule}: {message}")
            count += 1
    whole = [*check_gates(files), *check_state_list(files, listed), *check_circles(layers)]
    whole += [*check_rooms(files, root), *check_waits_list(files, waits)]
    for message in [] if options.paths else whole:
        print(message)
        count += 1
    functions = sum(len(file.functions) for file in files)
    print(f"tidy: {len(files)} files, {functions} functions, {excused} excused, {count} findings")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
