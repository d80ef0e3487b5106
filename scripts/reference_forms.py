# SPDX-License-Identifier: BSD-3-Clause
"""Prototypes that no single declaration has, for the pages of scripts/reference.py.

Messages are macros in C: their types are those of the functions that C++ programs call. Routines
of OpenSHMEM are shown once for all types and sizes, as shmem_TYPE_put and shmem_putSIZE; generic.h
says which of them C11 programs call without a type.
"""

import functools
import re

CXX_FORMS = ("am/am_cxx.h", "legacy/am_cxx_g1.h")
FEWEST = 2  # names with different types, or sizes, that make one form


@functools.lru_cache
def messages(root):
    """{name: prototype} of the calls whose last parameters are the arguments of a message."""
    out = {}
    for path in CXX_FORMS:
        text = (root / "include/tombolo" / path).read_text(encoding="utf-8")
        forms = re.findall(r"(?m)^inline (\w+) (\w+)\(([^)]*)GexxA\.\.\. a\)", text)
        for result, name, rest in forms:
            rest = re.sub(r"\s+", " ", rest)
            out[name] = f"{result} {name}({rest}...);"
    return out


@functools.lru_cache
def types(root):
    """{word in a name: type} of OpenSHMEM."""
    text = (root / "shmem/include/shmem/types.h").read_text(encoding="utf-8")
    return {word: re.sub(r"shmem_complex(\w)_", r"complex \1", type_)
            for word, type_ in re.findall(r"X\((\w+), ([\w ]+)\)", text)}


@functools.lru_cache
def generics(root):
    """Names without a type that C11 programs call."""
    text = (root / "shmem/include/shmem/generic.h").read_text(encoding="utf-8")
    return set(re.findall(r"(?m)^ *# *define (shmem_\w*[^\W_])\(", text))


def form_of(name, words):
    """(name with TYPE or SIZE in the place of its type or bits, that word), or (name, None)."""
    match = re.match(r"(shmem_(?:ctx_)?)([a-z0-9]+)(_\w+)$", name)
    if match and match[2] in words:
        return f"{match[1]}TYPE{match[3]}", match[2]
    match = re.match(r"(shmem_\w*?[a-z])(8|16|32|64|128)((?:_nbi|_signal)*)$", name)
    if match:
        return f"{match[1]}SIZE{match[3]}", match[2]
    return name, None


def merged(texts, form, names):
    """The prototype of a form: what differs between those of two types is the type."""
    first, second = (re.findall(r"\w+|\s+|.", re.sub(r"\s+", " ", text)) for text in texts)
    if len(first) != len(second):
        return None
    out = [a if a == b else form if a == names[0] else "TYPE" for a, b in zip(first, second)]
    return "".join(out)


class Forms:
    """The forms of a page: `words` {form: [type or bits]}, `texts` {form: prototype}."""

    def __init__(self, root, page):
        self.words, self.texts, self.of = {}, {}, {}
        known = types(root) if page.folder.startswith("shmem") else {}
        found = {}
        for entry in page.entries if known else ():
            for name, kind, text, _ in entry.items:
                form, word = form_of(name, known)
                if kind == "function" and word:
                    found.setdefault(form, []).append((word, name, text))
        for form, rows in found.items():
            simple = [row for row in rows if " " not in known.get(row[0], "")][:2]
            if len(rows) < FEWEST or len(simple) < 2:
                continue
            text = merged([row[2] for row in simple], form, [row[1] for row in simple])
            if text:
                self.texts[form], self.words[form] = text, [row[0] for row in rows]
                self.of.update({row[1]: form for row in rows})
        self.known = known
        self.generic = [g for g in (f.replace("TYPE_", "").replace("shmem_ctx_", "shmem_")
                                    for f in self.texts) if g in generics(root)]
        self.generic = list(dict.fromkeys(self.generic))

    def names(self, names):
        """A list of names in which each form stands once, behind those without a type."""
        return list(dict.fromkeys([*self.generic, *(self.of.get(n, n) for n in names)]))

    def synopses(self, entries, wrap):
        """[[prototype]] of the entries of a page, each form once, in lines."""
        out, seen = [], set()
        for entry in entries:
            out.append([])
            for name, kind, text, _ in entry.items:
                name = self.of.get(name, name)
                if kind == "macro" or not text or (name in self.texts and name in seen):
                    continue
                seen.add(name)
                out[-1].append(wrap(self.texts[name]) if name in self.texts else text)
        return out

    def blocks(self):
        """What TYPE stands for."""
        sets = {}
        for form, words in self.words.items():
            if "_ctx_" not in form and "TYPE" in form:
                sets.setdefault(tuple(words), []).append(form)
        sizes = dict.fromkeys(w for f, words in self.words.items() if "SIZE" in f for w in words)
        bits = [("text", f"SIZE is the bits of an element: {', '.join(sizes)}.")] if sizes else []
        if not sets:
            return bits
        said = "TYPE stands for a type, and in names for its word."
        if self.generic:
            said += " C11 and C++ programs may leave TYPE out: " + ", ".join(self.generic) + "."
        rows = [(", ".join(forms), self.spelt(words)) for words, forms in sets.items()]
        if len(rows) == 1:
            return [*bits, ("text", f"{said} It is one of {rows[0][1]}")]
        return [*bits, ("text", said), ("list", rows)]

    def spelt(self, words):
        """Words with their types, where these are not the same."""
        plain = {w: self.known[w] for w in words}
        return ", ".join(w if t == w else f"{w} ({t})" for w, t in plain.items()) + "."
