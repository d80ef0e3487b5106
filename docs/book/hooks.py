# SPDX-License-Identifier: BSD-3-Clause
"""What `make book` does beside mkdocs: mkdocs calls these functions while it builds the site.

* Entries of the navigation whose page does not exist are left out.
* The page of the tools is made from docs/man, which scripts/man.py makes from the commands' help.
* A listing `--8<-- "PATH:NAME"` is replaced by that part of the file (scripts/book.py has the rules).
* A picture is drawn once for light and once for dark colours, so that it follows the site's switch.
"""

import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import book  # pylint: disable=wrong-import-position
import picture  # pylint: disable=wrong-import-position

GENERATED = {"book/tools.md": book.tools_page}
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]*pictures/)([a-z_0-9]+)\.svg\)")


def kept(entry):
    """An entry of nav without what does not exist; None when nothing is left."""
    if isinstance(entry, str):
        return entry if entry in GENERATED or (ROOT / "docs" / entry).is_file() else None
    if isinstance(entry, dict):
        pairs = {name: kept(value) for name, value in entry.items()}
        return {name: value for name, value in pairs.items() if value} or None
    return [left for left in map(kept, entry) if left] or None


def on_config(config):
    config.nav = kept(config.nav)
    return config


def on_files(files, config):
    for path, make in GENERATED.items():
        files.append(File.generated(config, path, content=make()))
    for source in sorted((ROOT / "docs" / "pictures").glob("*.txt")):
        text = source.read_text(encoding="utf-8")
        for scheme in ("light", "dark"):
            path = f"pictures/{source.stem}.{scheme}.svg"
            files.append(File.generated(config, path, content=picture.draw(text, scheme)))
    return files


def on_page_markdown(markdown, page, **_):
    markdown = book.expand(markdown)
    drawn = r"![\1](\2\3.light.svg#only-light)![\1](\2\3.dark.svg#only-dark)"
    return PICTURE.sub(drawn, markdown)
