"""Themes on disk, beside the snapshots of an index: the groups that later papers join, and answers made before."""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rag.errors import StoreError
from rag.theme_forming import KeptThemes
from rag.themes import Grouping
from rag.types import Answer

LAYOUT = 3
"""What the files hold and how; those of another layout are not opened."""

KEPT = 200
"""Answers kept of a corpus state, the newest."""

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
_log = logging.getLogger(__name__)


class ThemeFolder:
    """The folder of an index's themes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self) -> KeptThemes | None:
        """Return the kept themes, None when there are none that can be read: they are then formed anew."""
        place = self.folder / f"themes-{LAYOUT}.npz"
        try:
            with np.load(place, allow_pickle=False) as data:
                about = json.loads(str(data["about"]))
                grouping = Grouping(
                    data["groups"], data["centres"], data["parents"], data["origin"], float(about["floor"])
                )
                return KeptThemes(
                    about["state"],
                    tuple(about["paper_ids"]),
                    grouping,
                    data["points"],
                    tuple(map(tuple, about["terms"])),
                    tuple(map(tuple, about["upper_terms"])),
                    about["formed"],
                    about["changed"],
                )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            _log.warning("the themes in %s are damaged and formed anew (%s)", place, error)
            return None

    def save(self, kept: KeptThemes) -> None:
        """Keep themes in place of those before; raises `StoreError` when they cannot be written."""
        about = {
            "state": kept.state,
            "paper_ids": kept.paper_ids,
            "floor": kept.grouping.floor,
            "terms": kept.terms,
            "upper_terms": kept.upper_terms,
            "formed": kept.formed,
            "changed": kept.changed,
        }
        grouping = kept.grouping
        with self._writing(f"themes-{LAYOUT}.npz") as place, place.open("wb") as file:
            np.savez(
                file,
                about=np.array(json.dumps(about)),
                groups=grouping.groups,
                centres=grouping.centres,
                parents=grouping.parents,
                origin=grouping.origin,
                points=kept.points,
            )

    def answer(self, state: str, key: str) -> Answer | None:
        """Return the answer kept for a corpus state under a key, None when there is none."""
        place = self.folder / _name(state, key)
        try:
            return _ANSWER.validate_json(place.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            _log.warning("the answer in %s is damaged and made anew (%s)", place, error)
            return None

    def keep_answer(self, state: str, key: str, answer: Answer) -> None:
        """Keep an answer; those of other corpus states go. Raises `StoreError` when it cannot be written."""
        with self._writing(_name(state, key)) as place:
            place.write_bytes(_ANSWER.dump_json(answer))
        with suppress(OSError):
            files = sorted(self.folder.glob("answer-*.json"), key=lambda file: -file.stat().st_mtime)
            own = [file for file in files if file.name.startswith(f"answer-{LAYOUT}-{state}-")]
            for file in {*files} - {*own[:KEPT]}:
                file.unlink(missing_ok=True)

    def _writing(self, name: str) -> _Replacing:
        return _Replacing(self.folder, name)


class _Replacing:
    """Gives a temporary file that takes the place of another when the block ends well: no reader sees half of it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def __enter__(self) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder, prefix="writing-", delete=False) as file:
                self.place = Path(file.name)
        except OSError as error:
            raise self._problem(error) from error
        return self.place

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                os.replace(self.place, self.folder / self.name)
        except OSError as problem:
            raise self._problem(problem) from problem
        finally:
            self.place.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise self._problem(error) from error

    def _problem(self, error: OSError) -> StoreError:
        return StoreError(f"themes cannot be written in {self.folder} ({error}); make room or choose another --store")


def _name(state: str, key: str) -> str:
    return f"answer-{LAYOUT}-{state}-{sha256(key.encode()).hexdigest()[:16]}.json"
