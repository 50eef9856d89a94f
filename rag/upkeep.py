"""Finding, removing and splitting what an index holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag.errors import UserError
from rag.join import join, relabelled
from rag.rows import Record
from rag.store import Store
from rag.types import Paper
from rag.versions import paper_of_wordings

Embed = Callable[[Sequence[Paper]], list[Record]]
"""Makes papers ready to be stored."""


def find_paper(store: Store, paper_id: str, *, merged: bool = False) -> Paper:
    """Return a stored paper by its id or that of one of its versions; raises `UserError` when there is none.

    With `merged` the paper that has a version of that id comes before the one whose own id it is.
    """
    found = store.papers([paper_id]).get(paper_id)
    if found is None or (merged and not found.versions):
        several = (paper for paper in store.all_papers() if paper.versions)
        found = next((paper for paper in several if any(v.id == paper_id for v in paper.versions)), found)
    if found is None:
        raise UserError(f"there is no paper {paper_id!r} in the index; `plenary search` shows the ids")
    return found


def remove_papers(store: Store, names: Sequence[str], embed: Embed) -> int:
    """Remove papers by id, or those that came from a file by its name; return how many went.

    A paper that another file holds too only loses that source; if its text stood in the removed file alone, it
    becomes that of the other file. Raises `UserError` for an unknown name.
    """
    with store.writing():
        papers = {paper.id: paper for paper in store.all_papers()}
        known = store.files()
        files = {source.file for paper in papers.values() for source in paper.sources} | known.keys()
        unknown = [name for name in names if name not in papers and name not in files]
        if unknown:
            raise UserError(f"neither a paper nor a file of the index: {', '.join(unknown)}")
        gone = {name for name in names if name in papers}
        result = join({i: paper for i, paper in papers.items() if i not in gone}, (), set(names) - gone)
        store.update(result.touched)
        if result.new:
            store.put(embed(result.new))
        store.delete(sorted(gone.union(result.gone)))
        store.remember_files({name: file for name, file in known.items() if name not in names})
    return len(gone) + result.removed


def split_version(store: Store, version_id: str, embed: Embed) -> tuple[Paper, Paper]:
    """Make a version of a paper a paper of its own, for good; return the paper it was merged into and it.

    The index remembers that the two are not one, whatever is loaded later. Raises `UserError` for an id that is
    no version's, or that of the stored wording.
    """
    with store.writing():
        whole = find_paper(store, version_id, merged=True)
        own = [version for version in whole.versions if version.id == version_id]
        rest = [version for version in whole.versions if version.id != version_id]
        if not own or not rest:
            raise UserError(f"the paper {whole.id} has one wording only; there is nothing to split")
        if version_id == whole.id:
            others = ", ".join(dict.fromkeys(version.id for version in rest))
            raise UserError(f"{version_id} is the paper itself; name the version that is another paper: {others}")
        store.remember_apart(frozenset((version_id, version.id)) for version in rest)
        left, apart = (relabelled(paper_of_wordings(versions)) for versions in (rest, own))
        # The new paper first: an interruption must not lose it.
        store.put(embed([apart]))
        if left.title == whole.title:
            store.update([left])
        else:
            store.put(embed([left]))
    return left, apart
