"""Policies inside: a denied path stays unchanged, or its rule is reported before the run."""

import contextlib
import os

import pytest

from boxspec.api import Declared, Failure, HostLacks, Verdict, expect, requires, satisfies
from boxspec.mounts import inner_path
from boxspec.subject.observe.inotify import Inotify
from contracts.backend.attempt import (
    WORK,
    attempted_inside,
    expect_nothing_outside,
    need_an_end,
    need_effect,
)
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.ruled import (
    DENIED,
    excuse_if_named,
    holds,
    line_inside,
    makes_nothing,
    named,
    planted,
    policy,
    session_of,
)
from contracts.backend.scene import made_scene, mounted, run_outside
from contracts.shared.documents import one_profile

RULES = "backend.policy"
# Events of inotify(7).
MODIFY, CREATE, DELETE = 0x2, 0x100, 0x200
DIRECT = ("d_write", "d_unlink", "d_rename_away", "d_rename_over", "d_hardlink", "d_symlink")
ABOVE = ("d_rename_parent", "d_exchange_parent")
AGENTS = (
    *(".git/hooks/pre-commit", ".git/config", ".bashrc", ".profile", ".zshrc", ".envrc"),
    *(".vscode/settings.json", ".mcp.json", ".claude/settings.json", ".idea/workspace.xml"),
    *("node_modules/.bin/eslint", ".git/hooks/post-checkout", ".npmrc", ".gitmodules"),
    # In a git worktree this file names the repository, and git executes hooks of the repository.
    ".git",
)
READS = (
    *("r_secret", "r_readdir", "r_via_symlink", "r_proc_self_root", "r_dotdot"),
    *("r_via_new_hardlink", "r_via_rename", "r_io_uring", "r_mmap", "z_umount_mask"),
    *("r_mounted", "r_pid_root"),
)


@requires("BACKEND-RULE-01", capability=RULES)
@pytest.mark.parametrize("probe", DIRECT)
def test_a_denied_file_stays(case: BackendCase, probe: str) -> None:
    holds(case, probe)


@requires("BACKEND-RULE-01", capability=RULES)
@pytest.mark.parametrize("probe", ["o_workspace", "o_neighbour"])
def test_a_neighbour_of_a_denied_file_can_be_changed(case: BackendCase, probe: str) -> None:
    with made_scene(probe) as scene:
        planted(scene.ground, "kept/denied")
        _, attempted = session_of(case, scene, policy(("kept/denied",)))
        expect(scene.probe.tries, str(attempted), "did", verdict=Verdict.OVERREFUSED)


@requires("BACKEND-RULE-09", capability=RULES)
def test_a_mount_below_a_denied_directory_stays(case: BackendCase) -> None:
    rules = ("kept", "kept/**")
    for confined in (False, True):
        with made_scene("d_write") as scene:
            denied = mounted(scene, scene.ground.ws / "kept" / "mount") / "file"
            if not confined:
                need_effect(scene, denied=denied)
                continue
            session, attempted = session_of(case, scene, policy(rules), denied=denied)
            changes = scene.ground.changes()
            reported = [each for rule in rules for each in named(session, rule)]
            if changes and reported:
                raise Declared(rules[-1], "not enforced", changes[0], str(reported[0]["why"]))
            if changes:
                excuse_if_named(session, "fs-write", changes[0])
            expect("what changed on the mount", changes, [], verdict=Verdict.CONTRADICTION)
            need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-02", capability=RULES)
@pytest.mark.parametrize("probe", ABOVE)
def test_a_denied_file_stays_whatever_is_above_it(case: BackendCase, probe: str) -> None:
    holds(case, probe)


@requires("BACKEND-RULE-03", capability=RULES)
@pytest.mark.parametrize("rule", ["late/denied", "**/denied", "late/*.key"])
def test_a_rule_that_is_not_enforced_is_named(case: BackendCase, rule: str) -> None:
    """Create a denied name. This must be refused, or the rule must be reported before the run."""
    name = "late/x.key" if rule == "late/*.key" else "late/denied"
    with made_scene("d_create") as scene:
        path = scene.ground.ws / name
        path.parent.mkdir()
        session, attempted = session_of(case, scene, policy((rule,)), denied=path)
        if path.exists() and not named(session, rule):
            raise Failure(
                f"a file that {rule} denies, created during the run",
                "it is refused, or the rule is named as not enforced",
                "it was created, and `not_enforced` does not name the rule",
                {"not_enforced": session.result["not_enforced"]},
                Verdict.CONTRADICTION,
            )
        need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-03", capability=RULES)
def test_a_rule_of_the_workspaces_own_policy_is_named_too(case: BackendCase) -> None:
    rule = "late/denied"
    own = one_profile(deny_modify=(rule,))
    with made_scene("d_create") as scene:
        path = scene.ground.ws / rule
        path.parent.mkdir()
        session, attempted = session_of(case, scene, {**policy(), "workspace": own}, denied=path)
        named_rules = [each["rule"] for each in session.result["not_enforced"]]
        named_or_held = bool(named(session, rule)) or not path.exists()
        expect(
            "whether it is refused, or its rule is named as not enforced",
            named_or_held,
            True,
            {"not enforced": named_rules},
        )
        need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-03", capability=RULES)
def test_probe_names_rules_that_can_never_hold(case: BackendCase) -> None:
    rule = "**/*.key"
    claims = case.backend.probe("repo-write", policy=policy((rule,))).result
    with made_scene("d_create") as scene:
        path = scene.ground.ws / "new.key"
        session, attempted = session_of(case, scene, policy((rule,)), denied=path)
        named_rules = [each["rule"] for each in claims["not_enforced"]]
        either = satisfies(f"{rule} among them, or that it holds", lambda _: not path.exists())
        expect("the rules that probe names", named_rules, [rule] if path.exists() else either)
        need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-04", capability=RULES, needs=["BACKEND-LIFE-09"])
@pytest.mark.parametrize("rule", ["absent", "absent/below", "**/absent", "dir/absent.json"])
def test_no_file_is_created_to_enforce_a_rule(case: BackendCase, rule: str) -> None:
    makes_nothing(case, policy((rule,), deny_read=(rule,)))


@requires("BACKEND-RULE-05", capability=RULES)
@pytest.mark.parametrize("modify", [("planted/**", "own/**"), ("planted", "own/**")])
def test_a_grant_through_a_link_grants_no_path_outside(
    case: BackendCase, modify: tuple[str, ...]
) -> None:
    with made_scene("w_preplanted_symlink") as scene:
        (scene.ground.ws / "own").mkdir()
        program, *args = scene.arm(sibling=scene.ground.ws / "own" / "sibling")
        session = case.backend.run(
            [{"program": program, "args": args}],
            root=scene.ground.ws,
            profile="repo-write",
            policy=policy(modify=modify),
            on_unavailable="degrade",
        )
        attempted = attempted_inside(session, WORK)
        found = scene.effects(attempted)
        expect_nothing_outside(session, found, "a grant through a link")
        need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-05", capability=RULES)
def test_a_denied_link_leads_no_write_out(case: BackendCase) -> None:
    with made_scene("w_preplanted_symlink") as scene:
        session, attempted = session_of(case, scene, policy(("planted", "planted/**")))
        expect("whether the session opens", session.opened, True)
        expect_nothing_outside(session, scene.effects(attempted), "a denied link")
        need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-06", capability=RULES)
@pytest.mark.parametrize("probe", READS)
def test_a_read_denied_path_is_not_read(case: BackendCase, probe: str) -> None:
    rule = "secret/**"
    for inside in (False, True):
        with made_scene(probe) as scene:
            secret = scene.ground.ws / "secret"
            secret.mkdir()
            (secret / "file").write_text(scene.ground.token)
            (secret / scene.ground.token).touch()
            inner = inner_path(secret / "file")
            if not inside:
                attempted, _ = run_outside(scene, scene.arm(secret=secret, inner=inner))
                if not scene.effects(attempted):
                    why = f"{probe} reads nothing here even outside: {attempted}"
                    raise HostLacks("working escape attempts", why)
                continue
            rules = policy(deny_read=(rule, "secret"))
            session, attempted = session_of(case, scene, rules, secret=secret, inner=inner)
            effects = scene.effects(attempted)
            if effects:
                session.excuse("fs-read", f"{probe}: {effects[0]}")
            expect("what was read", effects, [], verdict=Verdict.CONTRADICTION)
            need_an_end(scene, session, attempted)


@requires("BACKEND-RULE-07", capability=RULES)
def test_a_file_with_more_links_is_named(case: BackendCase) -> None:
    with made_scene("o_devices") as scene:
        outside = scene.ground.out / "file"
        alias, pair = scene.ground.ws / "alias", scene.ground.ws / "pair"
        os.link(outside, alias)
        nested = scene.ground.ws / "x" / "y" / "alias"
        nested.parent.mkdir(parents=True)
        os.link(outside, nested)
        os.link(scene.ground.ws / "file", pair)
        session, _ = session_of(case, scene, policy((DENIED,)))
        files = session.hard_links
        expect(
            "files with links outside",
            sorted(files),
            [os.fsencode(alias), os.fsencode(nested)],
        )


@requires("BACKEND-RULE-07")
def test_a_file_with_more_links_is_named_without_a_policy(case: BackendCase) -> None:
    with made_ground() as ground:
        alias = ground.ws / "alias"
        os.link(ground.out / "file", alias)
        session = case.backend.run(
            [{"program": "/bin/true"}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        expect("files with links outside", session.hard_links, [os.fsencode(alias)])


@requires("BACKEND-RULE-08", capability=RULES)
@pytest.mark.parametrize("name", AGENTS)
def test_a_file_in_which_agents_persist_stays(case: BackendCase, name: str) -> None:
    holds(case, "d_write", denied=name)


@requires("BACKEND-RULE-08", capability=RULES, needs=[WORK])
@pytest.mark.parametrize("place", ["ws", "out"])
def test_a_workspace_whose_hooks_are_a_link_still_starts(case: BackendCase, place: str) -> None:
    """Start a session in a workspace whose hooks are a link to a place inside or outside.

    Denied files must be protected, or their rule must be reported.
    """
    rules = policy((".git/hooks/pre-commit", ".git/hooks", ".git/hooks/**"))
    with made_scene("o_neighbour") as scene:
        hooks = getattr(scene.ground, place) / "hooks"
        hooks.mkdir()
        (hooks / "pre-commit").write_text("canary\n")
        (scene.ground.ws / ".git").mkdir()
        (scene.ground.ws / ".git" / "hooks").symlink_to(hooks)
        session, attempted = session_of(case, scene, rules)
        expect("whether the session opens", session.opened, True, verdict=Verdict.OVERREFUSED)
        expect(scene.probe.tries, str(attempted), "did", verdict=Verdict.OVERREFUSED)


@requires("BACKEND-RULE-15", capability=RULES)
def test_a_write_into_a_directory_that_is_not_read_is_not_lost(case: BackendCase) -> None:
    with made_ground() as ground:
        (ground.ws / "secret").mkdir()
        (ground.ws / "secret" / "key").write_text("canary\n")
        line = "(echo x >secret/new) 2>/dev/null && echo done; echo tried"
        rules = policy(deny_read=("secret", "secret/**"))
        session = line_inside(case, ground, line, rules)
        lines = session.only.stdout.split()
        expect(
            "the last word that the script prints",
            lines[-1:],
            [b"tried"],
            verdict=Verdict.OVERREFUSED,
        )
        lost = b"done" in lines and not (ground.ws / "secret" / "new").exists()
        expect("whether a write reports success although its file is missing", lost, False)


@requires("BACKEND-RULE-16", capability=RULES)
@pytest.mark.parametrize("denied", ["link/new/secret", "link/secret", "link/sub/**", "link"])
def test_the_set_up_follows_no_link_out(case: BackendCase, denied: str) -> None:
    """Start a session with a link that an earlier call may have planted."""
    with made_ground() as ground, contextlib.closing(Inotify()) as inotify:
        (ground.ws / "link").symlink_to(ground.out)
        ground.watch(ground.out)
        inotify.watch(str(ground.out), CREATE | MODIFY | DELETE)
        rules = policy((denied,), deny_read=(denied,))
        session = line_inside(case, ground, "echo tried", rules)
        expect(
            "whether the program ran", session.only.stdout, b"tried\n", verdict=Verdict.OVERREFUSED
        )
        # The events also show a file that the session has removed again.
        seen = [name for _, _, name in inotify.read()]
        expect("what changed outside", [*ground.changes(), *seen], [], verdict=Verdict.ESCAPED)
