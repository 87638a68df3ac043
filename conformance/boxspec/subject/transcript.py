"""Show the request and the events of a case in its report and in its kept folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boxspec.judge.expect import shown
from boxspec.subject.observe.events import Events

# If a request is longer than this, its long texts and lists are shortened for a report.
MOST_SHOWN = 600
# How many characters of a text, and how many items of a list, remain in a shortened request. A text
# of at most TEXT_MOST characters stays whole: the path of a case has more than 60 and becomes `.`.
TEXT_SHOWN, TEXT_MOST, ITEMS_SHOWN = 60, 120, 8
# The end of a shortened text or list.
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
    """Return this part of a request. Its long texts and lists are shortened."""
    if isinstance(value, str) and len(value) > TEXT_MOST:
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
    """Write the test, the last request and the events into the kept folder of a case."""
    if not folder.exists():
        return
    # The name of the test is written after the run, because the shim could read it during the run.
    (folder / "test").write_text(f"{name}\n", encoding="utf-8")
    if asked is not None:
        # ASCII with escapes, because the request may contain a lone surrogate.
        (folder / "asked.json").write_text(json.dumps(asked), encoding="ascii")
    for events in logs:
        lines = [str(event) for event in events.all()]
        if lines:
            Path(f"{events.path}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
