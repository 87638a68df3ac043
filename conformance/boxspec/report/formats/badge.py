"""Make a badge: an SVG, or JSON for shields.io, depending on the suffix of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.report.result import Result

GREEN, RED, YELLOW = "#1a7f37", "#b42318", "#8a6100"
# Mean width of a character in pixels, for Verdana of 11 px.
CHARACTER = 7.2
PADDING = 10


def _content(result: Result) -> tuple[str, str, str]:
    """Return label, message and colour."""
    selection, must = result.plain["selection"], result.plain["summary"]["contract"]["must"]
    label = f"boxspec {' '.join(selection['contracts'])}".rstrip()
    message = f"MUST {must['conforms']}/{must['of']}"
    if result.status in (0, 4):
        return label, message, GREEN if must["conforms"] == must["of"] else YELLOW
    word = {1: "", 3: "incomplete, "}.get(result.status, "no verdict, ")
    return label, f"{word}{message}", YELLOW if result.status == 3 else RED


def as_json(result: Result) -> str:
    label, message, colour = _content(result)
    endpoint = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
    if result.status not in (0, 3, 4):
        endpoint["isError"] = True
    return json.dumps(endpoint, indent=2) + "\n"


def as_svg(result: Result) -> str:
    label, message, colour = _content(result)
    left, right = (round(len(text) * CHARACTER + 2 * PADDING) for text in (label, message))
    width, title = left + right, escape(f"{label}: {message}")
    text = 'y="14" text-anchor="middle" fill="#fff"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img"'
        f' aria-label="{title}">\n'
        f"  <title>{title}</title>\n"
        f'  <rect width="{width}" height="20" rx="3" fill="#444c56"/>\n'
        f'  <rect x="{left}" width="{right}" height="20" rx="3" fill="{colour}"/>\n'
        f'  <rect x="{left}" width="4" height="20" fill="{colour}"/>\n'
        '  <g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'    <text x="{left / 2:g}" {text}>{escape(label, quote=False)}</text>\n'
        f'    <text x="{left + right / 2:g}" {text}>{escape(message, quote=False)}</text>\n'
        "  </g>\n</svg>\n"
    )


def renderer(name: str) -> Callable[[Result], str]:
    """Return the renderer for the suffix of the file."""
    made = {".json": as_json, ".svg": as_svg}.get(Path(name).suffix.lower())
    if made is None:
        raise UsageError(
            f"--badge {name}", "is neither SVG nor JSON", "use a name that ends in .svg or .json"
        )
    return made
