# SPDX-License-Identifier: BSD-3-Clause
"""A small C and C++ scanner for scripts/tidy.py.

Blanks comments and strings, splits off preprocessor lines, and finds function definitions and
prototypes at file level. It does not expand macros and needs no compiler.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+\w*|\d[\w.]*|\"\"|''|->|\+\+|--|<<=|>>=|<<|>>|"
    r"[<>=!+\-*/%&|^]=|&&|\|\||\.\.\.|##|[^\s\w]"
)
IDENT = re.compile(r"[A-Za-z_]\w*$")
NOT_A_FUNCTION = {
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "_Alignas",
    "alignas",
    "defined",
    "_Static_assert",
    "static_assert",
    "do",
    "else",
}


@dataclass
class Token:
    """One token: its text, line (1-based) and index among the file's tokens."""

    text: str
    line: int


@dataclass
class Function:
    """A function definition at file level."""

    name: str
    line: int
    end: int
    params: int
    body: list = field(default_factory=list)


@dataclass
class Directive:
    """A preprocessor line with its continuations joined."""

    line: int
    text: str


def blank_comments(text):
    """Replaces comments by spaces and the inside of strings by nothing; line numbers stay."""
    out = []
    pos = 0
    pattern = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
    for match in pattern.finditer(text):
        out.append(text[pos : match.start()])
        word = match.group()
        if word[0] == "/":
            out.append(re.sub(r"[^\n]", " ", word))
        elif word[0] == "'" and match.start() and re.match(r"\d", text[match.start() - 1]):
            out.append(" ")  # a C++14 digit separator, not a character
        else:
            out.append(word[0] * 2)
        pos = match.end()
    out.append(text[pos:])
    return "".join(out)


def split_directives(code):
    """Returns (code without preprocessor lines, directives). `code` has no comments."""
    directives, rest = [], []
    lines = code.split("\n")
    i = 0
    while i < len(lines):
        if not lines[i].lstrip().startswith("#"):
            rest.append(lines[i])
            i += 1
            continue
        start, parts = i, []
        while i < len(lines):
            parts.append(lines[i].rstrip("\\"))
            rest.append("")
            more = lines[i].endswith("\\")
            i += 1
            if not more:
                break
        directives.append(Directive(start + 1, " ".join(p.strip() for p in parts)))
    return "\n".join(rest), directives


def tokenize(code):
    """Splits comment-free, directive-free code into tokens."""
    tokens = []
    for number, line in enumerate(code.split("\n"), 1):
        tokens += [Token(m.group(), number) for m in TOKEN.finditer(line)]
    return tokens


def _open_of(tokens, close):
    """Index of the parenthesis that matches the one at `close`, or -1."""
    depth = 0
    for i in range(close, -1, -1):
        if tokens[i].text == ")":
            depth += 1
        elif tokens[i].text == "(":
            depth -= 1
            if depth == 0:
                return i
    return -1


def _definition_head(tokens, brace):
    """(index of the name, of `(`, of `)`) when the `{` at `brace` opens a function body."""
    i = brace - 1
    while i >= 0 and IDENT.match(tokens[i].text):  # trailing attribute macros, const, noexcept
        if tokens[i].text in ("struct", "union", "enum", "class", "namespace", "do", "else"):
            return None
        i -= 1
    while i >= 0 and tokens[i].text == ")":
        start = _open_of(tokens, i)
        name = start - 1
        if name < 0 or not IDENT.match(tokens[name].text) or tokens[name].text in NOT_A_FUNCTION:
            return None
        if tokens[name].text in ("__attribute__", "noexcept", "throw") or (
            name and tokens[name - 1].text == ")"
        ):
            i = name - 1  # an attribute with arguments after the parameter list
            continue
        return name, start, i
    return None


def count_params(tokens):
    """Number of parameters between the parentheses whose inside is `tokens`."""
    texts = [t.text for t in tokens]
    if texts in ([], ["void"]):
        return 0
    depth, count = 0, 1
    for text in texts:
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
        elif text == "," and depth == 0:
            count += 1
    return count


def _conditional_depths(directives, tokens):
    """For each token index, the conditional directives that stand just before it."""
    before, d = {}, 0
    for i, token in enumerate(tokens):
        while d < len(directives) and directives[d].line < token.line:
            word = re.match(r"#\s*(\w+)", directives[d].text)
            if word and word.group(1) in ("if", "ifdef", "ifndef", "else", "elif", "endif"):
                before.setdefault(i, []).append(word.group(1))
            d += 1
    return before


def find_functions(tokens, directives):
    """All function definitions at file level or inside `extern "C"` and namespaces.

    `#else` and `#elif` restore the brace nesting of their `#if`, so that branches which open the
    same brace count once.
    """
    before = _conditional_depths(directives, tokens)
    stack, saved, functions = [], [], []
    for i, token in enumerate(tokens):
        for word in before.get(i, []):
            if word.startswith("if"):
                saved.append(list(stack))
            elif word in ("else", "elif") and saved:
                stack = list(saved[-1])
            elif word == "endif" and saved:
                saved.pop()
        if token.text == "{":
            stack.append(_classify_brace(tokens, i, stack))
        elif token.text == "}" and stack:
            opened = stack.pop()
            if isinstance(opened, tuple):
                name, start, close, brace = opened
                functions.append(
                    Function(
                        tokens[name].text,
                        tokens[name].line,
                        token.line,
                        count_params(tokens[start + 1 : close]),
                        tokens[brace : i + 1],
                    )
                )
    return functions


def _classify_brace(tokens, i, stack):
    """What the brace at index i opens: "open" (transparent), a tuple (a function), or "block"."""
    if all(kind == "open" for kind in stack):
        if i >= 2 and tokens[i - 1].text == '""' and tokens[i - 2].text == "extern":
            return "open"
        if any(t.text == "namespace" for t in tokens[max(0, i - 2) : i]):
            return "open"
        head = _definition_head(tokens, i)
        if head:
            return head + (i,)
    return "block"


def find_declarations(tokens, prefixes):
    """(name, line of its first token) for each file-level prototype or definition of a function
    whose name has one of the prefixes."""
    found, depth, start = [], 0, 0
    for i, token in enumerate(tokens):
        if token.text == "{" and not (i >= 1 and tokens[i - 1].text == '""'):
            if depth == 0:
                found += _named(tokens[start:i], prefixes)
            depth += 1
        elif token.text == "{":
            start = i + 1
        elif token.text == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                start = i + 1
        elif token.text == ";" and depth == 0:
            found += _named(tokens[start:i], prefixes)
            start = i + 1
    return found


def _named(statement, prefixes):
    """The public function that a file-level statement declares, as a list of none or one."""
    if not statement or statement[0].text == "typedef":
        return []
    depth = 0
    for i, token in enumerate(statement):
        if token.text == "=" and depth == 0:
            return []
        if (
            depth == 0
            and token.text.startswith(prefixes)
            and i + 1 < len(statement)
            and statement[i + 1].text == "("
        ):
            return [(token.text, statement[0].line)]
        depth += {"(": 1, ")": -1}.get(token.text, 0)
    return []
