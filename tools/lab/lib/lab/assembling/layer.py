# SPDX-License-Identifier: GPL-2.0-only
"""A source tree as a stock one and the few files that differ from it.

Only what differs is ever copied, so applying a step costs what the step
changes and not what the kernel has.
"""

import shutil
from pathlib import Path

from lab.base import trees
from lab.base.errors import LabError


class Layer:
    """Files of base, replaced by those below root, without those removed."""

    def __init__(self, base: str | Path, root: str | Path) -> None:
        self.base, self.root = Path(base), Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.removed: set[str] = set()

    def exists(self, path: str) -> bool:
        return path not in self.removed and self.file(path).is_file()

    def file(self, path: str) -> Path:
        """Where the file is to be read."""
        own = self.root / path
        return own if own.exists() else self.base / path

    def writable(self, path: str) -> Path:
        """A copy of a file of the tree, to be changed."""
        if not self.exists(path):
            raise LabError(f"there is no {path} in the tree", "correct its name")
        own = self.root / path
        if not own.exists():
            trees.replace(self.base / path, own)
        return own

    def put(self, path: str, source: Path) -> None:
        """Bring in a file from elsewhere, over whatever was there."""
        trees.replace(source, self.root / path)
        self.removed.discard(path)

    def remove(self, path: str) -> None:
        if not self.exists(path):
            raise LabError(f"there is no {path} in the tree", "correct its name")
        (self.root / path).unlink(missing_ok=True)
        if (self.base / path).exists():
            self.removed.add(path)

    def changed(self) -> list[str]:
        """Paths of files that differ from the base's, or that it lacks; sorted."""
        found = [str(file.relative_to(self.root)) for file in self.root.rglob("*")
                 if file.is_file()]
        return sorted(path for path in found if not self._as_base(path))

    def _as_base(self, path: str) -> bool:
        own, other = self.root / path, self.base / path
        return (trees.same(own, other) and trees.is_executable(own) == trees.is_executable(other))

    def touched(self) -> list[str]:
        """All that is not the base's: what differs and what is gone."""
        return sorted({*self.changed(), *self.removed})

    def matching(self, pattern: str) -> bool:
        """Whether a pattern as in MAINTAINERS (F:) names something of the tree."""
        pattern = pattern.rstrip("/")
        if any(path == pattern or path.startswith(pattern + "/") or Path(path).match(pattern)
               for path in self.changed()):
            return True
        return any(not self._is_removed(path) for path in self.base.glob(pattern))

    def _is_removed(self, file: Path) -> bool:
        return str(file.relative_to(self.base)) in self.removed

    def discard(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
