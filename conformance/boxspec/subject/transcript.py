"""The request and the events of a case, as its report and its kept folder show them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boxspec.judge.expect import shown
from boxspec.subject.observe.events import Events

# Longer requests are cut in a report.
MOST_SHOWN = 600


def shown_request(message: Mapping[str, Any] | bytes) -> str:
    """Return a request for a report, without the fields that the kit adds."""
    if isinstance(message, bytes):
        return shown(message)
    body = {key: value for key, value in message.items() if key not in ("id", "hold")}
    text = json.dumps(body, ensure_ascii=False)
    if len(text) <= MOST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]}… (the kept folder has all)"


def write_transcript(
    folder: Path, name: str, asked: Mapping[str, Any] | None, logs: Iterable[Events]
) -> None:
    """Add files to the folder of a case that is kept: its test, its last request, its events."""
    if not folder.exists():
        return
    # The name is written after the run, because the shim could read it before.
    (folder / "test").write_text(f"{name}\n", encoding="utf-8")
    if asked is not None:
        # In ASCII, because the request may contain half a surrogate pair.
        (folder / "asked.json").write_text(json.dumps(asked), encoding="ascii")
    for events in logs:
        lines = [str(event) for event in events.all()]
        if lines:
            Path(f"{events.path}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
