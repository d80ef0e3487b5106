# SPDX-License-Identifier: BSD-3-Clause
"""Rules of tidy.py on functions, calls and preprocessor lines.

A rule takes a SourceFile of tidy.py and yields (line, rule, message).
"""

import re

import ctokens

MAX_FUNCTION = 70
MAX_PARAMS = 6
MAX_COMPLEXITY = 15
MAX_NAME = 32
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
COMPARISONS = {"==", "!=", "<", ">", "<=", ">="}
CHECKER = re.compile(r"(\w*assert\w*|CHECK\w*|REQUIRE\w*|\w*_check\w*|\w*_require\w*)$")
SIDE_EFFECTS = {"++", "--", "=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<=", ">>="}
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


def check_vla(file):
    """No variable-length arrays. (-Wvla is exact; this also sees code that is not compiled.)"""
    for function in file.functions:
        for statement in _statements(function):
            texts = [token.text for token in statement]
            if not (texts[0] in TYPE_START or re.match(r"\w+_t$", texts[0])) or "[" not in texts:
                continue
            before = texts[: texts.index("[")]
            if {"=", "(", "auto"} & set(before):  # auto: names for the parts of a C++ value
                continue
            size = texts[texts.index("[") + 1 : texts.index("]")]
            names = [t for t in size if ctokens.IDENT.match(t)]
            if names and "sizeof" not in size and all(name.islower() for name in names):
                yield statement[0].line, "vla", f"array of variable length [{' '.join(size)}]"


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


OF_C = (check_functions, check_docs, check_banned, check_locale, check_atomics, check_malloc,
        check_assert, check_prints, check_vla, check_directives)
