# SPDX-License-Identifier: BSD-3-Clause
"""What comments of the public headers say: text, sections, parameters, and the sentences of each.

Used by reference_read.py and those that read other languages. CONTRIBUTING.md has the order of a
comment; here it is taken apart.
"""

import re

SECTIONS = ("Completion", "Threads", "Errors", "Cost", "Example", "See", "Names", "Synopsis")


def plain(comment):
    """The text of a comment: paragraphs are kept, lines inside them joined."""
    body = re.sub(r"^/\*+|\*+/$", "", comment.strip())
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in body.split("\n")]
    out, paragraph = [], []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line.strip())
        elif paragraph:
            out.append(" ".join(paragraph))
            paragraph = []
    return "\n\n".join(out)


def split_sections(comment):
    """(text, {section: text}) of the comment of a page."""
    body = re.sub(r"^/\*+|\*+/$", "", comment.strip())
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in body.split("\n")]
    where, parts = "", {"": []}
    for line in lines:
        match = re.match(rf"({'|'.join(SECTIONS)}): (.*)", line)
        if match:
            where = match[1]
            parts.setdefault(where, []).append(match[2])
        else:
            where = "" if re.match(r"\[(in|out|in,out)\]", line) else where
            parts[where].append(line)
    text = plain("\n".join(parts.pop("")))
    return text, {
        word: plain("\n".join(found)).replace("Names: ", "") for word, found in parts.items()
    }


TAIL = re.compile(
    r"(?:Returns? |Normal context|Restricted context|Collective|Not"
    r" collective|Local:|Single-valued"
    r"|Any thread|Cost|Polls|Never polls|Never blocks|May poll|Does not poll|Legal only|Until |NB"
    r" |NBI"
    r"|Blocking|Scratch queries|The base|Nobody |May fork|Otherwise returns|Initiation|notify"
    r" does"
    r"|Some:|Test|Local:|Category|Works |Called |Peers reach|After entry|No barrier|To"
    r" |Built|API "
    r"|The event|Host memory|Completion|Errors|Threads|A put of|That put|Owner)"
)


def sentences(text):
    """Sentences of a paragraph."""
    return [s for s in re.split(r"(?<=\.)(?<!e\.g\.)\s+(?=[A-Z`\[])", text) if s]


def split_comment(text):
    """(text without them, [(names, direction, text)]) of the parameters in a comment."""
    pieces = re.split(r"\[(in|out|in,out)\] ", text)
    rest, found = pieces[0], []
    for direction, piece in zip(pieces[1::2], pieces[2::2]):
        match = re.match(r"((?:`?[\w.]+`?(?:, )?)+)(?::| |;|\.)\s*", piece)
        names = re.findall(r"\w+", match[1]) if match else []
        said = sentences(piece[match.end() :] if match else piece)
        cut = next((i for i, s in enumerate(said) if TAIL.match(s)), len(said))
        found.append((names, direction, " ".join(said[:cut]).strip()))
        rest += " " + " ".join(said[cut:])
    return re.sub(r"  +", " ", rest).strip(), found


KINDS = (
    (
        "Returns",
        re.compile(r"(?:Otherwise r|R)eturns? |Always GASNET_OK|.* return(?:s|ing)? 0\b"),
    ),
    ("Errors", re.compile(r"Errors: |Fatal")),
    ("Completion", re.compile(r"Completion: |Completion,|completion in category|Category ")),
    (
        "Threads",
        re.compile(
            r"Threads: |Normal context|Restricted context|Collective\b"
            r"|Not collective|Any thread|any context|Polls|Never polls|May poll"
            r"|Does not poll|Does not poll|Legal only|Local:|Owner\."
        ),
    ),
    ("Cost", re.compile(r"Cost\b")),
)


def sort_sentences(text):
    """{section: text} and, under "", what is left, of a comment without its parameters."""
    out = {"": []}
    for number, paragraph in enumerate(text.split("\n\n")):
        last = ""
        for place, sentence in enumerate(sentences(paragraph)):
            if re.match(r"API (?:reference )?[\d]", sentence):
                continue
            word = next((word for word, form in KINDS if form.match(sentence)), "")
            if number + place == 0 and word in ("Threads", "Completion"):
                word = ""  # the first sentence says what the call is for
            if not word and (last == "Cost" or (last == "Returns" and sentence[:1].islower())):
                word = last
            last = word
            said = re.sub(r"\s*API \d\d(?:[.,] ?\d+)*(?:, \d\d\.\d+)*\.?$", "", sentence)
            said = re.sub(r"^(?:Threads|Errors|Completion|Cost): ", "", said)
            out.setdefault(last, []).append(said[:1].upper() + said[1:] if last else said)
        out[""].append("\n\n")
    return {
        word: re.sub(r" ?\n\n ?", "\n\n", " ".join(found)).strip() for word, found in out.items()
    }
