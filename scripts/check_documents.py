#!/usr/bin/env python3
"""Fails if a document names a file, a heading or a document of the project that is not there, or is not reachable from README.md.

usage: scripts/check_documents.py [ROOT]
"""

import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$")


def text_lines(path: Path) -> list[str]:
    """The lines outside of code blocks, with `code` in them blanked, where brackets mean something else."""
    lines, inside = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            inside = not inside
            lines.append("")
        else:
            lines.append("" if inside else line)
    return lines


def anchor_of(heading: str) -> str:
    """As GitHub makes it: links by their text, no punctuation, blanks become hyphens."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors_of(path: Path) -> set[str]:
    found: dict[str, int] = {}
    anchors = set()
    for line in text_lines(path):
        if match := HEADING.match(line):
            anchor = anchor_of(match[1])
            count = found.get(anchor, 0)
            found[anchor] = count + 1
            anchors.add(f"{anchor}-{count}" if count else anchor)
    return anchors


def documents(root: Path) -> list[Path]:
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])


def links_of(path: Path) -> list[tuple[int, str]]:
    lines = enumerate(text_lines(path), start=1)
    return [(number, target) for number, line in lines for target in LINK.findall(re.sub(r"`[^`]*`(?!\]\()", "", line))]


def check_link(root: Path, document: Path, target: str) -> tuple[str | None, Path | None]:
    """What is wrong with a link, and the document that it leads to."""
    if re.match(r"[a-z]+:", target):
        return None, None
    name, _, anchor = target.partition("#")
    file = (document.parent / name).resolve() if name else document
    if not file.exists() or not file.is_relative_to(root):
        return f"there is no {name}", None
    if anchor and (file.suffix != ".md" or anchor not in anchors_of(file)):
        return f"{file.name} has no heading #{anchor}", None
    return None, file if file.suffix == ".md" else None


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    problems, leads = [], {}
    for document in documents(root):
        leads[document] = set()
        for number, target in links_of(document):
            problem, file = check_link(root, document, target)
            if problem:
                problems.append(f"{document.relative_to(root)}:{number}: {problem}")
            elif file:
                leads[document].add(file)
    reached, left = set(), [root / "README.md"]
    while left:
        document = left.pop()
        if document not in reached:
            reached.add(document)
            left += leads.get(document, [])
    problems += [f"{document.relative_to(root)}: no document leads to it from README.md"
                 for document in leads if document.is_relative_to(root / "docs") and document not in reached]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"check_documents: {len(leads)} documents, every link leads somewhere")
    return 1 if problems or not leads else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
