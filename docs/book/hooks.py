# SPDX-License-Identifier: BSD-3-Clause
"""What `make book` does beside mkdocs: mkdocs calls these functions while it builds the site.

* Entries of the navigation whose page does not exist are left out.
* The pages of the tools are made from docs/man, which scripts/man.py makes from the commands' help.
* The pages of all functions are made by scripts/reference.py, where clang is there; a chapter's
  `gex_NAME` becomes a link to its page.
* A listing gets the path of its file as a title (scripts/book.py has the rules).
* A link to a manual page, `../man/tombolo-run.1`, leads to that command's section of the page Tools.
* A link whose text is the name of a page, `[RUN.md](RUN.md)`, gets the page's title as its text.
* The search finds chapters before references, and these before decisions.
* Each setting and each numbered message has an anchor of its name: SETTINGS.html#TOMBOLO_HOSTS.
* The title names the version, and CHANGELOG.md is a page.
* Lists are indented as Python-Markdown wants it.
* A picture is drawn once for light and once for dark colours, so that it follows the site's switch.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import book  # pylint: disable=wrong-import-position
import picture  # pylint: disable=wrong-import-position

PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]*pictures/)([a-z_0-9]+)\.svg\)")
GROUP = re.compile(r"^## (.+)$|^\* \[([^]]+)\]\(([^)]+)\): (.*)$", re.M)
PAGE_LINK = re.compile(r"\[([A-Z_]+\.md)\]\(((?:\.\./)*\1)(#[\w-]+)?\)")
MAN_LINK = re.compile(r"\]\(((?:\.\./)*)man/([\w-]+)\.1\)")
NAME = re.compile(r"(?<![\[`\w])`((?:gex|gexx|gasnet|gasnett|GEX|GEXX|GASNET)_\w+)`(?![\]`])")

ROW = re.compile(r"^\| (?=((?:`[A-Z][A-Z0-9_]+`(?:<br>)?)+) \|)|^\| (?=`(TMB-\d{4})` \|)", re.M)
BOOST = (("book/", 4), ("README.md", 4), ("DECISIONS/", 0.2), ("CHANGELOG.md", 0.2), ("", 1))

generated = {}  # path below docs: text
page_of = {}  # name of a function, macro or type: its page in reference/


def make_reference():
    """Fills `generated` and `page_of` with the pages of all functions; nothing without clang."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "scripts" / "reference.py"), "--web", folder]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return
        for page in Path(folder).glob("*.md"):
            generated[f"reference/{page.name}"] = page.read_text(encoding="utf-8")
    names = generated["reference/index.md"].partition("## Names")[2]
    page_of.update(re.findall(r"\[`(\w+)`\]\((\S+?)\)", names))


def reference_nav():
    """The entries of all functions, a group for each header."""
    out = [{"All names": "reference/index.md"}]
    group = out
    for header, name, page, _ in GROUP.findall(generated["reference/index.md"]):
        if header == "Names":
            break
        if header:
            group = []
            out.append({header: group})
        else:
            group.append({name: f"reference/{page}"})
    return [entry for entry in out if all(entry.values())]


def kept(entry):
    """An entry of nav without what does not exist; None when nothing is left."""
    if entry == "reference/index.md":
        return reference_nav() if entry in generated else None
    if isinstance(entry, str):
        return entry if entry in generated or (ROOT / "docs" / entry).is_file() else None
    if isinstance(entry, dict):
        pairs = {name: kept(value) for name, value in entry.items()}
        return {name: value for name, value in pairs.items() if value} or None
    return [left for left in map(kept, entry) if left] or None


def on_config(config):
    generated["book/tools.md"] = book.tools_page()
    generated["CHANGELOG.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    config.site_name += f" {version[1]}"
    make_reference()
    config.nav = kept(config.nav)
    return config


def on_files(files, config):
    for path, text in generated.items():
        files.append(File.generated(config, path, content=text))
    for source in sorted((ROOT / "docs" / "pictures").glob("*.txt")):
        text = source.read_text(encoding="utf-8")
        for scheme in ("light", "dark"):
            path = f"pictures/{source.stem}.{scheme}.svg"
            files.append(File.generated(config, path, content=picture.draw(text, scheme)))
    return files


def with_links(markdown, folder):
    """A page whose names of functions lead to their pages; blocks of code and headings stay."""

    def link(match):
        page = page_of.get(match[1])
        return f"[`{match[1]}`]({folder}reference/{page})" if page else match[0]

    out, inside = [], False
    for line in markdown.split("\n"):
        inside ^= line.lstrip().startswith("```")
        out.append(line if inside or line.startswith("#") else NAME.sub(link, line))
    return "\n".join(out)


def titled(match):
    """A link to a page of docs, with its title instead of its file name."""
    page = ROOT / "docs" / match[1]
    if not page.is_file():
        return match[0]
    title = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)
    return f"[{title[1] if title else match[1]}]({match[2]}{match[3] or ''})"


def in_both_schemes(match):
    """A picture for light and for dark colours; one that `tombolo view` has made stays."""
    if not (ROOT / "docs" / "pictures" / f"{match[3]}.txt").is_file():
        return match[0]
    both = (f"![{match[1]}]({match[2]}{match[3]}.{s}.svg#only-{s})" for s in ("light", "dark"))
    return "".join(both)


def with_anchors(match):
    """The begin of a table's row, with an anchor for each name in its first column."""
    names = re.findall(r"TMB-\d{4}|[A-Z][A-Z0-9_]+", match[2] or match[1])
    return match[0] + "".join(f'<a id="{name}"></a>' for name in names)


def on_page_markdown(markdown, page, **_):
    path = page.file.src_uri
    page.meta["search"] = {"boost": next(b for begin, b in BOOST if path.startswith(begin))}
    if not path.startswith("reference/"):
        markdown = with_links(markdown, "../" * path.count("/"))
    if path == "README.md" and page_of:
        markdown = markdown.replace("on the site under Functions",
                                    "under [Functions](reference/index.md)")
    if path == "SETTINGS.md":
        markdown = book.settings_page(markdown)
    if path in ("SETTINGS.md", "reference/tombolo-messages.md"):
        markdown = ROW.sub(with_anchors, markdown)
    folder = "" if path.startswith("book/") else "book/"
    markdown = MAN_LINK.sub(rf"]({folder}tools.md#\2)", book.expand(markdown))
    markdown = book.deep_lists(PAGE_LINK.sub(titled, markdown))
    return PICTURE.sub(in_both_schemes, markdown)
