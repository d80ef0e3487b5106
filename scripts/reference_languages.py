# SPDX-License-Identifier: BSD-3-Clause
"""Reference pages of C++, Python and Fortran: a page for each header, class or module.

Read by scripts/reference.py. Sources: the headers include/tombolo/cxx with the comments above their
declarations; the docstrings of bindings/python; coarray/fortran/tombolo_caf.f90 with the comments
above its interfaces. A page is a list of the blocks that scripts/reference_write.py knows.
"""

import ast
import re

import reference_read as reader

CXX, PYTHON, FORTRAN = "include/tombolo/cxx", "bindings/python/src/tombolo", "coarray/fortran"
PRIF = "prif/fortran"
PRIF_TEXT = (
    "The procedures are those of the Parallel Runtime Interface for Fortran, revision 0.8 (doi "
    "10.25344/S4Z88F). The last arguments are optional: `integer(c_int), intent(out) :: stat`, "
    "`character(len=*), intent(inout) :: errmsg`, and `character(len=:), allocatable, intent(out) "
    ":: errmsg_alloc`. Without `stat` an error ends all images."
)
PRIF_SUBJECTS = {  # the procedures of each that no file *.inc has
    "life": ["prif_register_stop_callback"],
    "image": ["prif_image_status"],
    "memory": ["prif_allocate_coarray"],
    "query": [],
    "access": [],
    "sync": [],
    "team": [],
    "collective": ["prif_co_reduce", "prif_co_reduce_cptr"],
    "atomic": [],
}
ERRORS = {
    "C++": (
        "A call that cannot be done throws tombolo::error, whose text names the argument, its"
        " value and the remedy. A remote call whose function has thrown gives"
        " tombolo::remote_error. Where nothing of this is said, a call does not throw."
    ),
    "Python": (
        "A wrong argument raises TypeError, ValueError or IndexError. A wait longer than its"
        " timeout raises TimeoutError. A lost rank raises tombolo.LostError, once"
        " Job.report_failures is on; otherwise it ends the job. A function that raises on another"
        " rank gives tombolo.RemoteError."
    ),
    "Fortran": (
        "With stat an error is a number, and errmsg says it in words. Without stat an error ends"
        " the program with a message."
    ),
}
THREADS = {
    "C++": "As in C: PAR clients may call from all threads, others from one at a time.",
    "Python": "Any thread may call; the interpreter lock is released while a call waits.",
    "Fortran": "One thread of an image.",
}
FENCES = {"C++": "cpp", "Python": "python", "Fortran": "fortran"}
EXAMPLES = {
    "C++": ("examples/*.cc",),
    "Python": ("bindings/python/examples/*.py",),
    "Fortran": ("examples/fortran/*.f90", "examples/prif/*.f90"),
}
LINES = 24
UNNAMED = {"begin", "end", "blocking_t"}  # used by loops over ranges, and by a constant
TITLES = {
    "base": "errors, rank, size and progress",
}
OUR_BASES = ("Collectives", "Array", "TeamBase")  # whose members a class shows as its own
OF_C = ("Future", "TeamBase")  # classes of the extension that have a text, in _core.pyi
BESIDE = {
    "SemaphoreName": "Semaphore",
    "Notice": "Notification",
}  # classes on the page of another


class Item:
    """A class, function, method or member: name, declaration, what is said of it, its members."""

    def __init__(self, name, text, said):
        self.name, self.text, self.said, self.members = name, text, said, []


class Guide:
    """A page: name for man, name for the web, title, language, what to include, items."""

    def __init__(self, name, web, title, language):
        self.name, self.web, self.title, self.language = name, web, title, language
        self.use, self.items, self.text, self.file = [], [], "", ""

    def names(self):
        """What the manual finds this page by."""
        return [item.name for item in self.items]


# ---- C++
def cxx_comments(text):
    """(code without comments, {line: comment that ends there and stands alone})."""
    comments = {}
    for match in re.finditer(r"/\*.*?\*/", text, re.S):
        alone = not text[: match.start()].rsplit("\n", 1)[-1].strip()
        if alone and "----" not in match[0]:
            lines = re.sub(r"^/\*+|\*+/$", "", match[0]).split("\n")
            said = " ".join(re.sub(r"^\s*\*? ?", "", line).strip() for line in lines)
            comments[text.count("\n", 0, match.end())] = said.strip()
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    code = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), code)
    code = re.sub(r"^\s*#.*?(?<!\\)$", lambda m: re.sub(r"[^\n]", " ", m[0]), code, flags=re.M)
    return (
        re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', code),
        comments,
    )


def skip_braces(code, at):
    """The place behind the closing brace of the one at a place."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == "{") - (code[place] == "}")
        if depth == 0:
            return place + 1
    return len(code)


def head_of(statement):
    """A declaration without body, initialisers of members and words for the compiler."""
    text = re.sub(r"\s+", " ", statement).strip()
    text = re.sub(
        r"\)\s*(const|noexcept|\s)*:\s*\w+[_>)({].*$",
        lambda m: ")" + m[0][1:].split(":")[0],
        text,
    )
    return re.sub(r"^(inline|static|explicit|constexpr) ", "", text).strip()


def without_template(head):
    """A declaration without its lists of template parameters."""
    while head.startswith("template <"):
        at = head.index("<")
        depth = 0
        for at in range(at, len(head)):
            depth += (head[at] == "<") - (head[at] == ">")
            if depth == 0:
                break
        head = head[at + 1 :].lstrip()
    return head


def name_of(head):
    """The name that a declaration gives, or None."""
    head = re.sub(r"sizeof\.\.\.\(\w+\)", "sizeof", without_template(head))
    found = re.match(r"(?:class|struct) (?:\[\[\w+\]\] )?(\w+)", head)
    if found:
        return found[1]
    before = head.split("(")[0]
    found = re.search(r"(operator\S*(?: \S+)?|~?\w+)$", before.strip())
    return found[1] if found and "(" in head else None


def datum_of(head):
    """The name of the datum of a class that a declaration gives, or None."""
    found = re.match(r"[\w:<>, ]+[ *&](\w+)$", head)
    return found[1] if found else None


class Scanner:
    """Reads the declarations of one header."""

    def __init__(self, text):
        self.text = text
        self.code, self.comments = cxx_comments(text)

    def said(self, start, member):
        """The comment above a place, shared by lines without an empty one between them."""
        line = self.text.count("\n", 0, start)
        lines = self.text.split("\n")
        while line > 0:
            if line - 1 in self.comments:
                return self.comments[line - 1]
            above = lines[line - 1].strip()
            if not above or (member and re.match(r"public:|.*\b(class|struct) [^;]*{$", above)):
                return ""
            line -= 1
        return ""

    def scan(self, at, end, owner):
        """Items between two places; owner: the item of the class around them, or None."""
        out, begin, public = [], at, owner is None or owner.text.startswith("struct")
        while at < end:
            sign = self.code[at]
            statement = self.code[begin:at]
            if (
                owner is not None
                and sign == ":"
                and re.search(r"\b(public|private|protected)\s*$", statement)
            ):
                public, begin, at = "public" in statement, at + 1, at + 1
                continue
            inside = statement.count("(") > statement.count(")")
            if sign not in ";{" or inside:
                at = skip_braces(self.code, at) if sign == "{" else at + 1
                continue
            head, start = head_of(statement), begin + len(statement) - len(statement.lstrip())
            after = at + 1 if sign == ";" else skip_braces(self.code, at)
            if sign == "{" and re.match(r"namespace (tombolo )?$", head + " "):
                out += self.scan(at + 1, after - 1, None)
            elif (
                sign == "{" and re.search(r"=\s*$|\b(addr_|\w+_)\s*$", head) and "(" not in head
            ):
                at = after
                continue
            elif public and not re.match(r"namespace|using|friend|static_assert", head):
                implied = re.search(
                    r"= (delete|default)$|&&other\)|std::(coroutine_traits|hash)\b", head
                )
                forward = sign == ";" and re.match(
                    r"(?:class|struct) \w+$", without_template(head)
                )
                name = None if implied or forward else name_of(head)
                if not name and owner is not None and sign == ";":
                    name = datum_of(head)
                if name and not name.startswith("~"):
                    out.append(self.item(name, head, (start, at, after), owner is not None))
            begin = at = after
        return out

    def item(self, name, head, span, member):
        """One item, with its members if it is a class."""
        bare = without_template(head)
        is_class = re.match(r"(?:class|struct) ", bare)
        shown = bare if is_class else head
        item = Item(name, shown, self.said(span[0], member))
        item.template = head
        if is_class and self.code[span[1]] == "{":
            item.members = self.scan(span[1] + 1, span[2] - 1, item)
        return item


def cxx_guides(root):
    """Pages of the headers of C++."""
    out = []
    for path in sorted((root / CXX).glob("*.hpp")):
        text = path.read_text()
        scanner = Scanner(text)
        items = [i for i in scanner.scan(0, len(text), None) if "::" not in i.name]
        head = re.search(rf"tombolo/cxx/{path.name}: (.*?)\.\n", text, re.S)
        title = TITLES.get(path.stem) or re.sub(r"\s*\n \* ", " ", head[1])
        guide = Guide(f"tombolo::{path.stem}", f"cxx-{path.stem}", title, "C++")
        guide.use = ["#include <tombolo.hpp>", "using namespace tombolo;"]
        if (
            f'"{path.name}"' not in "".join(p.read_text() for p in (root / CXX).glob("*.hpp"))
            and path.stem != "job"
        ):
            guide.use = [f"#include <tombolo/cxx/{path.name}>", "using namespace tombolo;"]
        guide.file, guide.items = f"{CXX}/{path.name}", merged(items)
        for item in guide.items:
            item.name = f"tombolo::{item.name}"
        if guide.items:
            out.append(guide)
    return out


def merged(items):
    """Items of one name, as specialisations and overloads, as one item."""
    out = {}
    for item in items:
        if item.name in out:
            kept = out[item.name]
            kept.text += "\n" + item.text
            kept.said = (
                f"{kept.said} {item.said}".strip() if item.said not in kept.said else kept.said
            )
        else:
            out[item.name] = item
    return list(out.values())


# ---- Python
def signature(function):
    """How a function is called."""
    arguments = function.args
    for one in [*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs]:
        one.annotation = None
    for one in (arguments.vararg, arguments.kwarg):
        if one:
            one.annotation = None
    arguments.args = [a for a in arguments.args if a.arg not in ("self", "cls")]
    return f"{function.name}({ast.unparse(arguments)})"


def doc(node):
    """The docstring, as paragraphs."""
    found = ast.get_docstring(node) or ""
    return "\n\n".join(" ".join(p.split()) for p in found.split("\n\n")).replace("``", "`")


def python_class(node, classes):
    """Members of a class and of its bases that are the package's own."""
    out = []
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name[0] != "_":
            names = [ast.unparse(d) for d in part.decorator_list]
            if any(n.endswith(".setter") for n in names):
                continue
            text = part.name if "property" in names else signature(part)
            out.append(Item(part.name, text, doc(part)))
        elif isinstance(part, ast.AnnAssign) and part.target.id[0] != "_":
            out.append(
                Item(part.target.id, f"{part.target.id}: {ast.unparse(part.annotation)}", "")
            )
    for base in node.bases:
        base = classes.get(ast.unparse(base).split(".")[-1])
        if base is not None and base is not node and base.name in OUR_BASES:
            known = {item.name for item in out}
            out += [i for i in python_class(base, classes) if i.name not in known]
    return out


def python_guides(root):
    """Pages of the classes of Python."""
    folder, classes, functions = root / PYTHON, {}, {}
    for path in [folder / "_core.pyi", *sorted(folder.glob("*.py"))]:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and (
                path.suffix == ".py" or node.name in OF_C
            ):
                classes[node.name] = node
            elif isinstance(node, ast.FunctionDef) and path.suffix == ".py":
                functions[node.name] = node
    tree = ast.parse((folder / "__init__.py").read_text())
    listed = next(
        ast.literal_eval(n.value)
        for n in tree.body
        if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"
    )
    main = Guide("tombolo.Job", "python-job", "the job of a Python program", "Python")
    out, errors = [main], Guide(
        "tombolo.LostError", "python-errors", "errors and warnings", "Python"
    )
    beside = []
    for name in listed:
        if name in functions:
            main.items.insert(
                0, Item(f"tombolo.{name}", signature(functions[name]), doc(functions[name]))
            )
            continue
        node = classes[name]
        item = Item(f"tombolo.{name}", f"class {name}", doc(node))
        item.members = python_class(node, classes)
        bases = {ast.unparse(b) for b in node.bases}
        if name == "Job":
            main.items.append(item)
        elif bases & {"RuntimeError", "ResourceWarning"} or name == "Peer":
            errors.items.append(item)
        elif name in BESIDE:
            beside.append(item)
        else:
            title = (doc(node).split(". ")[0].split("; ")[0].rstrip(".") or name).replace(
                "`", ""
            )
            guide = Guide(
                f"tombolo.{name}",
                f"python-{name.lower()}",
                title[:1].lower() + title[1:],
                "Python",
            )
            guide.items.append(item)
            out.append(guide)
    for item in beside:
        wanted = f"tombolo.{BESIDE[item.name.split('.')[-1]]}"
        next(g for g in out if g.name == wanted).items.append(item)
    out.append(errors)
    for guide in out:
        guide.use, guide.file = ["import tombolo"], f"{PYTHON}/__init__.py"
    return out


# ---- Fortran
def fortran_guides(root):
    """The page of the module tombolo_caf."""
    path = root / FORTRAN / "tombolo_caf.f90"
    text = path.read_text()
    guide = Guide(
        "tombolo_caf",
        "fortran-tombolo-caf",
        "notified access and asynchronous transfers",
        "Fortran",
    )
    guide.use, guide.file = ["use tombolo_caf"], f"{FORTRAN}/tombolo_caf.f90"
    head = [re.sub(r"^! ?", "", l) for l in text.split("\nmodule ")[0].split("\n")[1:]]
    guide.text = "\n\n".join(
        " ".join(p.split()) for p in "\n".join(head).split("\n\n") if not p.startswith("  ")
    )
    listed = re.findall(r"\w+", " ".join(re.findall(r"public :: (.*)", text)))
    code = text.replace(" &\n", "\n")
    for name in listed:
        item = Item(name, "", "")
        for found in re.finditer(
            rf"((?:^ *!.*\n)*)((?: *interface\n)?) *(?:type, bind\(c\) :: {name}\b"
            rf"|interface {name}\n|subroutine {name}\(|function {name}\()",
            code,
            re.M,
        ):
            item.said = " ".join(
                re.sub(r"^\s*! ?", "", l) for l in found[1].strip().split("\n")
            ).strip()
            rest = code[found.end(2) :]
            generic = rest.lstrip().startswith("interface")
            end = re.search(
                r"end interface\n" if generic else r"end (type|function|subroutine)\n", rest
            )
            item.text = fortran_text(name, rest[: end.end()] if end else rest)
        item.said = item.said or guide.items[-1].said
        guide.items.append(item)
    return [guide]


def joined(text):
    """Fortran without its continuation lines."""
    return re.sub(r" *&\n *", " ", text)


def prif_guides(root):
    """A page for each subject of the module prif; comments at the head of *.inc speak of it."""
    module = joined((root / PRIF / "tombolo_prif.F90").read_text())
    for subject in PRIF_SUBJECTS:
        file = f"{PRIF}/{subject}.inc"
        head, _, code = (root / file).read_text().partition("\n\n")
        title, *text = re.sub(r"^! ?", "", head, flags=re.M).split("\n\n")
        title = title.split("\n")[1].rstrip(".")
        guide = Guide(
            f"prif_{subject}", f"fortran-prif-{subject}", title[0].lower() + title[1:], "Fortran"
        )
        guide.use, guide.file = ["use prif"], file
        guide.text = f"{' '.join(text[0].split())}\n\n{PRIF_TEXT}"
        code = joined(code)
        for name in PRIF_SUBJECTS[subject]: # which the module itself has
            begin = module.index(f"subroutine {name}(")
            code += module[begin : module.index("end subroutine", begin)] + "end subroutine\n"
        for match in re.finditer(r"subroutine (prif_\w+)\((.*?)\)(.*?)end subroutine", code, re.S):
            inside = set(re.findall(r"\w+", match[2]))
            lines = [l.strip() for l in match[3].split("\n") if "::" in l]
            lines = [l for l in lines if set(re.findall(r"\w+", l.split("::")[1])) & inside]
            text = "\n".join([f"call {match[1]}({match[2]})", *("    " + l for l in lines)])
            guide.items.append(Item(match[1], text, ""))
        yield guide


def fortran_text(name, text):
    """The calls and types in a part of the module, as a program writes them."""
    if re.match(rf" *type, bind\(c\) :: {name}\b", text):
        return f"type({name})"
    out = []
    for match in re.finditer(
        r"^ *(subroutine|function) (\w+)\((.*?)\)(.*?)^ *end \1", text, re.M | re.S
    ):
        out.append(f"{'call ' if match[1] == 'subroutine' else 'done = '}{name}({match[3]})")
        for line in match[4].split("\n"):
            if "::" in line and "import" not in line:
                out.append("    " + line.strip())
    return "\n".join(out)


# ---- pages
def example(root, guide):
    """(file, lines) of the paragraph of a tested program that shows most names of a page."""
    words = {re.split(r"::|\.| ", i.name)[-1] for i in guide.items}
    if guide.language == "Python":
        words |= {m.name for i in guide.items for m in i.members}
    form = re.compile(r"\b(" + "|".join(map(re.escape, sorted(words))) + r")\b(?=[<(.\s])")
    makers = {re.split(r"\.", i.name)[-1].lower() for i in guide.items} # job.signals makes Signals
    made = re.compile(r"\.(" + "|".join(makers) + r")\(" if guide.language == "Python" else r"\Z ")
    best, score = None, 0
    for pattern in EXAMPLES[guide.language]:
        for path in sorted(root.glob(pattern)):
            for block in re.split(r"\n\s*\n", re.sub(r"\A(?:!.*\n)+", "", path.read_text())):
                lines = block.strip("\n").split("\n")
                whole = len(lines) <= LINES
                if "SPDX" in block or len(lines) < 3:
                    continue
                if not whole:
                    at = next((i for i, line in enumerate(lines) if form.search(line)), 0)
                    lines = lines[max(0, at - LINES // 2) :][:LINES]
                    block = "\n".join(lines)
                worth = len(set(form.findall(block))) * 10 - abs(len(lines) - 9)
                worth += 40 * bool(made.search(block))
                if (form.search(block) or made.search(block)) and worth + 30 > score:
                    indent = min(len(l) - len(l.lstrip()) for l in lines if l.strip())
                    best, score = (
                        str(path.relative_to(root)),
                        [l[indent:] for l in lines],
                    ), worth + 30
    return best


def wrapped(text):
    """Lines of a declaration, of at most 79 characters where there is room to break."""
    out = []
    for line in text.split("\n"):
        bare = without_template(line)
        if len(line) > 79 and bare not in ("", line):
            out += wrapped(line[: -len(bare)].rstrip())
            line = bare
        while len(line) > 79 and " " in line[20:79]:
            comma = line.rfind(", ", 20, 79) + 1
            cut = comma or line.rfind(" ", 20, 79)
            out.append(line[:cut])
            line = "        " + line[cut:].strip()
        out.append(line)
    return out


def blocks(root, guide):
    """The page as blocks."""
    code = [*guide.use, ""]
    for item in guide.items:
        text = getattr(item, "template", item.text) if item.members else item.text
        code += wrapped(text)
        indent = "    " if guide.language != "Fortran" else ""
        code += [indent + line for member in item.members for line in wrapped(member.text)]
        code.append("")
    out = [("title", guide.name, guide.title), ("section", "SYNOPSIS"), ("code", code[:-1])]
    out.append(("section", "DESCRIPTION"))
    if guide.text:
        out.append(("text", guide.text))
    for item in guide.items:
        if item.said or item.members:
            out.append(("heading", item.name))
        if item.said:
            out.append(("text", item.said))
        rows = [(m.text.split("\n")[0], m.said) for m in item.members if m.said]
        if rows:
            out.append(("list", rows))
    out += [("section", "ERRORS"), ("text", ERRORS[guide.language])]
    out += [("section", "THREADS"), ("text", THREADS[guide.language])]
    found = example(root, guide)
    if found:
        out += reader.example_blocks(root, found)
    return [*out, ("section", "SEE ALSO"), ("see", [*others(root, guide), "tombolo-api"])]


def others(root, guide):
    """Names of the pages of the same language."""
    return [
        g.name for g in guides(root) if g.language == guide.language and g.name != guide.name
    ]


def guides(root):
    """All pages of C++, Python and Fortran."""
    if root not in CACHE:
        CACHE[root] = [
            *cxx_guides(root), *python_guides(root), *fortran_guides(root), *prif_guides(root)
        ]
    return CACHE[root]


CACHE = {}


def used(root, language):
    """Names in the code of the programs that the tests compile and run."""
    out = set()
    for path in [p for pattern in EXAMPLES[language] for p in sorted(root.glob(pattern))]:
        text = path.read_text()
        if language == "Python":
            nodes = list(ast.walk(ast.parse(text)))
            out |= {n.id for n in nodes if isinstance(n, ast.Name)}
            out |= {n.attr for n in nodes if isinstance(n, ast.Attribute)}
        else:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
            out |= set(re.findall(r"\w+", re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text)))
    return out


def without_example(root):
    """Lines about names of C++ and Python that no example uses.

    A class is shown by one of its members. Operators and constructors have no name of their own.
    """
    for language in ("C++", "Python"):
        shown = used(root, language) | UNNAMED
        for guide in guides(root):
            if guide.language != language:
                continue
            for item in guide.items:
                name = re.split(r"::|\.", item.name)[-1]
                members = {m.name for m in item.members if m.name != name}
                if language == "C++":  # data are named where a value is made of them
                    members &= {m.name for m in item.members if "(" in m.text}
                members = {m for m in members if not m.startswith("operator")}
                if not shown & {name, *members} and not name.startswith("operator"):
                    yield f"{guide.file}: no example uses {item.name}"
                for member in sorted(members - shown):
                    yield f"{guide.file}: no example uses {item.name}.{member}"


def missing(root):
    """Lines about names that nothing is said of, or that no example uses."""
    yield from without_example(root)
    for guide in guides(root):
        for item in guide.items:
            if not item.said and not (guide.file.startswith(PRIF) and guide.text):
                yield f"{guide.file}: no word about {item.name}, page {guide.name}"
            for member in item.members:
                if guide.language == "Python" and not member.said and "(" in member.text:
                    yield f"{guide.file}: no word about {item.name}.{member.name}"
        fault = reader.example_fault(root, example(root, guide))
        if fault:
            yield f"{guide.file}: page {guide.name} {fault}"
