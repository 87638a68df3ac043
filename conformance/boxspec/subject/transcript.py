"""The request and the events of a case, as its report and its kept folder show them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boxspec.judge.expect import shown
from boxspec.subject.observe.events import Events

# In a longer request the long texts and lists are shortened for a report.
MOST_SHOWN = 600
# The characters of a text, and the items of a list, that a long request keeps.
TEXT_SHOWN, ITEMS_SHOWN = 60, 8
# Ends a text or a list that was shortened.
SHORTENED = " more)"


def shown_request(message: Mapping[str, Any] | bytes) -> str:
    """Return a request for a report, without the fields that the kit adds."""
    if isinstance(message, bytes):
        return shown(message)
    body = {key: value for key, value in message.items() if key not in ("id", "hold")}
    text = json.dumps(body, ensure_ascii=False)
    if len(text) > MOST_SHOWN:
        text = json.dumps(_shortened(body), ensure_ascii=False)
    if len(text) <= 2 * MOST_SHOWN:
        return text
    return f"{text[: 2 * MOST_SHOWN]}… (the kept folder has all)"


def _shortened(value: Any) -> Any:
    """Return a part of a request with its long texts and lists shortened."""
    if isinstance(value, str) and len(value) > TEXT_SHOWN:
        return f"{value[:TEXT_SHOWN]}… ({len(value) - TEXT_SHOWN:,}{SHORTENED}"
    if isinstance(value, list):
        some = [_shortened(each) for each in value[:ITEMS_SHOWN]]
        more = len(value) - len(some)
        return [*some, f"… ({more:,}{SHORTENED}"] if more else some
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    return value


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
