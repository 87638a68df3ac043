"""A start with other variables of the environment.

A wrapper may turn its sandbox off where it finds variables of a build or no terminal:
`[ -z "$CI" ] || exec "$@"`. So one start has each such variable if the caller has none, and none if
the caller has it.
"""

from __future__ import annotations

from collections.abc import Mapping

# The value that each variable gets if the caller lacks it; "" for those that are only removed.
TURNED = {
    **{"CI": "true", "GITHUB_ACTIONS": "true", "TERM": "xterm"},
    **dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"), ""),
    **dict.fromkeys(("COLORTERM", "SSH_CONNECTION", "SSH_TTY", "DBUS_SESSION_BUS_ADDRESS"), ""),
}


def turned(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the variables that it lacks, and without those that it has."""
    kept = {name: value for name, value in env.items() if name not in TURNED}
    return kept | {name: value for name, value in TURNED.items() if value and name not in env}


def shown(caller: Mapping[str, str]) -> str:
    """Return how the environment differs, for a message."""
    own = [name for name, value in TURNED.items() if value]
    made = [f"with {name}={TURNED[name]}" for name in own if name not in caller]
    gone = [f"without {name}" for name in own if name in caller]
    return ", ".join([*made, *gone, "without a display and agents"])
