# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of lock-free structures, as tests/litmus/*.litmus has them.

Owns: their statements, and how they are written. Called by litmus.py. Calls nothing.
docs/MEMORY_ORDERS.md describes the files.
"""

import ast
import re
from dataclasses import dataclass, replace

STATEMENT = re.compile(
    r"(?:(?P<to>\w+) = )?(?P<verb>load|store|xchg|cas|fence|fetch_(?:add|sub|or|and))"
    r"_(?P<order>rlx|acq_rel|acq|rel|seq)\b *(?P<operands>.*)$"
)


class Wrong(Exception):
    """A pattern that cannot be read, or does not fit the source."""


@dataclass(frozen=True)
class Statement:
    """One line of a thread; body and other are what an `if` holds."""

    line: int
    verb: str  # load, store, cas, fence, an update; plain, set, if, assume, membarrier, futex_*
    order: str = ""
    to: str = ""  # register
    place: str = ""
    values: tuple = ()  # expressions
    spare: tuple = ()  # weaker orders that do as well
    quote: tuple = ()  # file, function, text
    body: tuple = ()
    other: tuple = ()
    text: str = ""


@dataclass
class Pattern:
    """A file of tests/litmus."""

    name: str
    title: str
    initial: dict
    threads: dict  # name -> statements
    forbidden: str
    sometimes: list
    outside: set  # threads whose code is not ours


def compiled(text, line):
    """An expression of numbers, registers and Python's operators."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise Wrong(f"line {line}: {text!r} is no expression") from error
    allowed = (ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant)
    allowed += (ast.Name, ast.Attribute, ast.Load, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
    for node in ast.walk(tree):
        if not isinstance(node, allowed):
            raise Wrong(f"line {line}: {text!r} is too much for an expression")
    names = tuple(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return compile(tree, text, "eval"), names


def read_simple(text, line, places):
    """A statement that is not atomic."""
    if text == "membarrier":
        return Statement(line, "membarrier", "seq")
    match = re.match(r"assume (.*)$", text)
    if match:
        return Statement(line, "assume", values=(compiled(match[1], line),))
    match = re.match(r"(\w+) = futex_(wait|wake) (\w+)(?:, (.*))?$", text)
    if match:
        values = (compiled(match[4], line),) if match[2] == "wait" else ()
        return Statement(line, "futex_" + match[2], "seq", match[1], match[3], values)
    match = re.match(r"(\w+) = (.*)$", text)
    if not match:
        raise Wrong(f"line {line}: {text!r} is no statement")
    if match[1] in places:
        return Statement(line, "store", "na", "", match[1], (compiled(match[2], line),))
    if match[2] in places:
        return Statement(line, "load", "na", match[1], match[2])
    return Statement(line, "set", "", match[1], "", (compiled(match[2], line),))


def read_statement(text, line, places):
    """A statement without `if`."""
    quote, spare = (), ()
    match = re.match(r"(.*?) *@ *(\S+) (\w+): (.*)$", text)
    if match:
        text, quote = match[1], (match[2], match[3], " ".join(match[4].split()))
    match = re.match(r"(.*?) +spare((?: \w+)+)?$", text)
    if match:
        text, spare = match[1], tuple((match[2] or "all").split())
    match = STATEMENT.match(text)
    if not match:
        statement = read_simple(text, line, places)
    else:
        place, *values = [part.strip() for part in match["operands"].split(",")]
        if match["verb"] != "fence" and place not in places:
            raise Wrong(f"line {line}: there is no place {place!r}; `places` names them")
        values = tuple(compiled(value, line) for value in values)
        statement = Statement(line, match["verb"], match["order"], match["to"], place, values)
    return replace(statement, quote=quote, spare=spare, text=text)


def read_block(lines, depth, places):
    """Statements of one indentation from the front of `lines`, which loses them."""
    block = []
    while lines and lines[0][1] >= depth:
        number, indent, text = lines.pop(0)
        if indent > depth:
            raise Wrong(f"line {number}: too far to the right")
        match = re.match(r"if (.*)$", text)
        if not match:
            block.append(read_statement(text, number, places))
            continue
        body, other = read_block(lines, depth + 2, places), ()
        if lines and lines[0][1:] == (depth, "else"):
            lines.pop(0)
            other = read_block(lines, depth + 2, places)
        value = (compiled(match[1], number),)
        block.append(Statement(number, "if", values=value, body=body, other=other))
    return tuple(block)


def read_pattern(path):
    """Reads a file."""
    keys, bodies, thread, outside = {"sometimes": []}, {}, None, set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = re.sub(r" *#.*", "", line).rstrip()
        if not text:
            continue
        key = re.match(r"(\w+): (.*)$", text)
        if key and key[1] == "sometimes":
            keys["sometimes"].append(key[2])
        elif key:
            keys[key[1]] = key[2]
        elif text.startswith("thread "):
            name, *more = text.split()[1:]
            outside |= {name} if more == ["outside"] else set()
            thread = bodies.setdefault(name, [])
        elif thread is not None and text.startswith("  "):
            indent = len(text) - len(text.lstrip())
            if re.match(r" *@ ", text):  # the quote of the statement before
                last = thread[-1]
                thread[-1] = (last[0], last[1], f"{last[2]} {text.strip()}")
            else:
                thread.append((number, indent - 2, text.strip()))
        else:
            raise Wrong(f"line {number}: {text!r} belongs to nothing")
    initial = {}
    for word in keys.get("places", "").split():
        place, _, value = word.partition("=")
        initial[place] = int(value or 0)
    missing = {"title", "places", "forbidden"} - set(keys)
    if missing or not keys["sometimes"]:
        raise Wrong(f"no {', '.join(sorted(missing)) or 'sometimes'}")
    threads = {name: read_block(lines, 0, initial) for name, lines in bodies.items()}
    return Pattern(
        path.stem, keys["title"], initial, threads, keys["forbidden"], keys["sometimes"], outside
    )


def all_statements(statements):
    """Statements of a thread, with those inside of others."""
    for statement in statements:
        yield statement
        yield from all_statements(statement.body)
        yield from all_statements(statement.other)
