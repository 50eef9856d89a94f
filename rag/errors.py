"""The error tree: who must act decides the class.

Every message is one sentence that says what is wrong and what to do; it may be shown as it is.
"""

from __future__ import annotations


class PlenaryError(Exception):
    """Root of all errors Plenary raises on purpose. `exit_status` is that of the command line."""

    exit_status = 1


class UserError(PlenaryError):
    """The user can mend it: a wrong path, option, question or file."""

    exit_status = 2


class InputError(UserError):
    """A file or record cannot be read. Names the file, the line (0 for the whole file) and the remedy."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        self.file, self.line, self.reason = file, line, reason
        place = f"{file}, line {line}" if line else file
        super().__init__(f"{place}: {reason}")


class OperatorError(PlenaryError):
    """Whoever installed Plenary can mend it: an asset, the store, a setting."""


class AssetError(OperatorError):
    """A pinned file is missing, damaged or cannot be fetched."""


class StoreError(OperatorError):
    """The index cannot be opened, is locked, or belongs to another embedding model."""


class PromptError(OperatorError):
    """A prompt file is missing or its variables do not fit."""


class ProviderError(PlenaryError):
    """A model service failed. `retry` says whether asking again may help."""

    def __init__(self, message: str, *, retry: bool) -> None:
        self.retry = retry
        super().__init__(message)
