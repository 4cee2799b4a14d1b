"""Where the truth behind a release is kept: once, under the release without protection of its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trajlab.store import Store


def unprotected_id(store: Store, release_id: str) -> str:
    """The release whose people, positions and clock are those of this one; itself where nothing protects it."""
    found = store.rows("select unprotected_id from study.release where release_id = $id", id=release_id)
    return str(found[0][0]) if found else release_id
