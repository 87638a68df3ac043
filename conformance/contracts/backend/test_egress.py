"""The field egress: its syntax, contradictions with the profile, and its enforcement."""

import pytest

from boxspec.api import Failure, Verdict, expect, requires
from boxspec.subject.observe.listeners import Listeners
from contracts.backend.attempt import control, inside
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scene import made_scene

GOOD = ("*", "example.org:443", "127.0.0.1:1", "[::1]:65535", "a-b.example:80")
BAD = (
    *("", "example.org", ":443", "example.org:", "example.org:0", "example.org:65536"),
    *("example.org:http", "::1:443", "[::1]", "[nonsense]:1", "https://example.org:443"),
    *("example.org:443/path", "two words:1", "*:*", "example.org:+1", "example.org:-1"),
    *("[:::]:1", "[1:2:3:4:5:6:7:8:9]:1", "[::12345]:1"),
    # Entries with blanks, with a text around the address, or with digits that are not ASCII.
    *(" example.org:443", "example.org:443 ", "example.org:443\n", "example.org: 443", " *", "* "),
    *("[::1]x:443", "x[::1]:443", "[::1 ]:443", "[::1:443", "::1]:443", "example.org:٤٤٣"),
)


@requires("BACKEND-EGRESS-01")
@pytest.mark.parametrize("entry", GOOD)
def test_a_destination_is_taken(case: BackendCase, entry: str) -> None:
    expect(
        "whether the probe makes claims", case.backend.probe("repo-write", egress=[entry]).ok, True
    )


@requires("BACKEND-EGRESS-01")
@pytest.mark.parametrize("entry", BAD)
def test_an_invalid_destination_is_refused(case: BackendCase, entry: str) -> None:
    answer = case.backend.probe("repo-write", egress=[entry])
    expect("the kind of the error", answer.error["kind"], "invalid_input")


@requires("BACKEND-EGRESS-01")
@pytest.mark.parametrize("at", [0, 1, 2])
def test_each_destination_of_a_list_is_checked(case: BackendCase, at: int) -> None:
    entries = ["*", "example.org:443"]
    entries.insert(at, "example.org")
    answer = case.backend.probe("repo-write", egress=entries)
    expect("the kind of the error", answer.error["kind"], "invalid_input")


@requires("BACKEND-EGRESS-02")
@pytest.mark.parametrize("profile", ["no-network", "ci-only"])
@pytest.mark.parametrize("entry", ["example.org:443", "*"])
def test_a_list_contradicts_a_profile_without_network(
    case: BackendCase, profile: str, entry: str
) -> None:
    answer = case.backend.probe(profile, egress=[entry])
    expect("the kind of the error", answer.error["kind"], "invalid_input")
    expect("whether the profile is accepted without a list", case.backend.probe(profile).ok, True)


def _refused_in_a_session(case: BackendCase, profile: str, entry: str) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/true"}],
            root=ground.ws,
            profile=profile,
            egress=[entry],
            on_unavailable="degrade",
        )
        expect("the kind of the error", session.error["kind"], "invalid_input")


@requires("BACKEND-EGRESS-01")
def test_an_invalid_destination_is_refused_in_a_session_too(case: BackendCase) -> None:
    _refused_in_a_session(case, "repo-write", "example.org")


@requires("BACKEND-EGRESS-02")
@pytest.mark.parametrize(
    ("profile", "entry"), [("no-network", "example.org:443"), ("ci-only", "*")]
)
def test_a_list_contradicts_such_a_profile_in_a_session_too(
    case: BackendCase, profile: str, entry: str
) -> None:
    _refused_in_a_session(case, profile, entry)


# Attempts to reach a destination that differs from the listed one.
OTHERS = {
    "port": "n_tcp4",
    "address": "n_tcp4",
    "UDP": "n_udp",
    "IPv6": "n_tcp6",
    "of several": "n_tcp4",
}


@requires("BACKEND-EGRESS-03")
@pytest.mark.parametrize("other", OTHERS)
def test_an_unlisted_destination_is_not_reached(case: BackendCase, other: str) -> None:
    probe = OTHERS[other]
    control(probe)
    with (
        made_scene(probe) as scene,
        Listeners(scene.ground.folder, f"named-{scene.ground.token}") as named,
    ):
        allowed = f"127.0.0.1:{named.params['tcp4']}"
        if other == "address":
            # The listed destination has the port of the attempt, but a different address.
            allowed = f"127.0.0.2:{scene.params['tcp4']}"
        more = [f"{name}.invalid:443" for name in "abc"] if other == "of several" else []
        session, _ = inside(case, scene, "repo-write", egress=[allowed, *more])
        reached = [hit for each in scene.observers for hit in each.hits()]
        if reached:
            session.excuse("network", f"{probe}: reached")
            raise Failure(
                "a destination that the list does not name",
                "it is not reached",
                ", ".join(reached),
                {"egress": allowed},
                Verdict.CONTRADICTION,
            )


# Entries before and after the address that is reached. The ports of the others are closed.
LISTS: dict[str, tuple[list[str], list[str]]] = {
    "the only one": ([], []),
    "the first": ([], ["127.0.0.1:1", "[::1]:2"]),
    "in the middle": (["127.0.0.1:1"], ["[::1]:2"]),
    "the last": (["127.0.0.1:1", "[::1]:2", "127.0.0.2:3"], []),
}


@requires("BACKEND-EGRESS-05")
@pytest.mark.parametrize("place", [*LISTS, "*"])
def test_each_listed_address_is_reached(case: BackendCase, place: str) -> None:
    case.backend.need("open network")
    control("n_tcp4")
    with made_scene("n_tcp4") as scene:
        listed = f"127.0.0.1:{scene.params['tcp4']}"
        before, after = LISTS.get(place, ([], []))
        egress = ["*"] if place == "*" else [*before, listed, *after]
        _, attempted = inside(case, scene, "repo-write", egress=egress)
        hits = [hit for observer in scene.observers for hit in observer.hits()]
        evidence = {"egress": egress, "inside": str(attempted)}
        expect("connections that the listener got", len(hits), 1, evidence, Verdict.OVERREFUSED)


@requires("BACKEND-EGRESS-04")
@pytest.mark.parametrize("egress", [["127.0.0.1:1"], ["*"], ["[::1]:2", "example.org:443"]])
def test_a_list_changes_no_claim_but_that_of_the_network(
    case: BackendCase, egress: list[str]
) -> None:
    """A list must not cost the whole sandbox: under degrade, programs would then run without."""
    for name in dict.fromkeys([case.backend.chosen, *case.backend.named]):
        with_list, without = (
            {
                aspect: claim["claim"]
                for aspect, claim in case.backend.probe("repo-write", backend=name, egress=each)
                .result["aspects"]
                .items()
                if aspect != "network"
            }
            for each in (egress, None)
        )
        expect(f"the claims of {name}, except network", with_list, without)
