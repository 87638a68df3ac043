"""Writes to paths that the profile does not permit."""

import os
import subprocess
from pathlib import Path

import pytest

from boxspec.api import (
    Blocked,
    Failure,
    HostLacks,
    Verdict,
    expect,
    requires,
)
from contracts.backend.attempt import (
    WORK,
    attempt,
    expect_nothing_outside,
    inside,
    judge,
    need_effect,
)
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.scene import made_scene, mounted
from contracts.shared.files import script_at
from contracts.shared.requests import ExecRequest

PLAIN = (
    *("w_create", "w_write", "w_append", "w_truncate", "w_open_rdonly_trunc", "w_mkdir", "w_rmdir"),
    *("w_unlink", "w_rename_inside_out", "w_rename_out_to_ws", "w_rename_ws_over_out"),
    *("w_symlink_create", "w_mkfifo", "w_unix_bind", "w_openat2", "w_creat", "w_mknod"),
    *("w_tmp", "w_vartmp", "w_devshm", "w_home", "w_ssh_config", "w_etc"),
)
ALIAS = (
    *("w_hardlink_out_to_ws_write", "w_hardlink_ws_to_out", "w_symlink_dir_follow"),
    *("w_symlink_file_follow", "w_preplanted_symlink", "w_dotdot", "w_proc_self_root"),
    *("w_proc_victim_root", "w_proc_victim_cwd", "w_proc_ppid_root"),
    *("w_o_path_reopen", "w_race_symlink", "w_proc_reopen", "w_mounted"),
)
AROUND = (
    "w_o_tmpfile",
    "w_io_uring_openat",
    "w_io_uring_unlinkat",
    "w_open_by_handle",
    "w_exchange",
    "w_whiteout",
    "w_chroot_escape",
)
READ_ONLY = ("w_ws", "w_ws_change", "w_ws_unlink")


@requires("BACKEND-WRITE-01")
@pytest.mark.parametrize("probe", PLAIN)
def test_a_change_outside_is_not_made(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-WRITE-01")
@pytest.mark.parametrize("profile", ["read-only", "no-network", "full-dev", "ci-only"])
def test_no_profile_allows_a_change_outside(case: BackendCase, profile: str) -> None:
    attempt(case, "w_write", profile=profile)


@requires("BACKEND-WRITE-01")
@pytest.mark.parametrize("probe", ["w_home", "w_ssh_config"])
def test_a_cache_is_not_the_whole_home(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="full-dev")


# Directories in HOME with names that are similar to `.cache`, or that tools also use.
NEAR_THE_CACHE = (".cache2", ".cache-x", ".cach", "cache", ".Cache", "x.cache", ".config", ".local")


@requires("BACKEND-WRITE-01", needs=[WORK])
def test_no_directory_beside_the_cache_is_writable(case: BackendCase) -> None:
    with made_ground() as ground:
        for name in (".cache", *NEAR_THE_CACHE):
            (ground.home / name).mkdir()
        line = ': >sibling; cd "$1" && for name in *cach* .cach* .Cache .config .local'
        line += '; do true >"$name/made"; done'
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line, "sh", str(ground.home)]}],
            root=ground.ws,
            profile="full-dev",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)},
        )
        session.need_enforcement()
        made = [name for name in NEAR_THE_CACHE if (ground.home / name / "made").exists()]
        if made:
            session.excuse("fs-write", f"HOME/{made[0]}/made")
        expect("files outside, beside HOME/.cache", made, [], verdict=Verdict.CONTRADICTION)
        wrote = (ground.ws / "sibling").exists()
        expect("whether the call wrote inside", wrote, True, verdict=Verdict.OVERREFUSED)


def write_on_a_mount(case: BackendCase, name: str, profile: str) -> None:
    """Try to write to a file system that is mounted below a read-only directory.

    A sandbox may have overlooked that mount.
    """
    for confined in (False, True):
        with made_scene("w_write") as scene:
            place = getattr(scene.ground, name) / "below" / "mount"
            scene.params["out"] = mounted(scene, place)
            if confined:
                session, attempted = inside(case, scene, profile)
                judge(scene, session, attempted)
            else:
                need_effect(scene)


@requires("BACKEND-WRITE-06")
def test_a_mount_outside_stays_unchanged(case: BackendCase) -> None:
    write_on_a_mount(case, "out", "repo-write")


@requires("BACKEND-WRITE-06")
def test_a_mount_of_a_read_only_workspace_stays_unchanged(case: BackendCase) -> None:
    write_on_a_mount(case, "ws", "read-only")


CALLS = 3


@requires("BACKEND-WRITE-01", needs=[WORK])
def test_each_call_of_a_session_is_confined(case: BackendCase) -> None:
    with made_ground() as ground:
        line = ': >"$1/sibling-$3"; : >"$2/made-$3"'
        words = [["-c", line, "sh", str(ground.ws), str(ground.out), str(n)] for n in range(CALLS)]
        session = case.backend.run(
            [{"program": "/bin/sh", "args": each} for each in words],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        made = sorted(path.name for path in ground.out.glob("made-*"))
        if made:
            session.excuse("fs-write", f"out/{made[0]}")
        expect("files that the calls created outside", made, [], verdict=Verdict.CONTRADICTION)
        wrote = len(list(ground.ws.glob("sibling-*")))
        expect("number of calls that wrote inside", wrote, CALLS, verdict=Verdict.OVERREFUSED)


@requires("BACKEND-WRITE-02")
@pytest.mark.parametrize("probe", ALIAS)
def test_no_alias_leads_outside(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


PLANT = """cd "$TMPDIR" && ln -s "$1" folder && ln -s "$1/file" file && mkdir below || exit 1
ln -s "$1" below/folder && ln -s "$2" below/home && : >"$3/sibling"
"""


@requires("BACKEND-WRITE-02")
def test_the_removal_of_the_scratch_follows_no_link(case: BackendCase) -> None:
    with made_ground() as ground:
        ground.watch()
        words = ["-c", PLANT, "sh", str(ground.out), str(ground.home), str(ground.ws)]
        session = case.backend.run(
            [{"program": "/bin/sh", "args": words}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        if not (ground.ws / "sibling").exists():
            raise Blocked(["BACKEND-ENV-03"], "the backend lets no program make links below TMPDIR")
        expect_nothing_outside(session, ground.changes(), "links of the scratch")


@requires("BACKEND-WRITE-03")
@pytest.mark.parametrize("probe", AROUND)
def test_no_way_around_leads_outside(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-WRITE-04")
@pytest.mark.parametrize("probe", READ_ONLY)
def test_a_read_only_workspace_stays_unchanged(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="read-only")


WAYS = ("dynamic", "by the loader", "a script")
ATTEMPT = ': > "$1/sibling"; : > "$2/made"'


def start(way: str, ground: Ground) -> list[str]:
    """Return the command that makes the attempt.

    Raise HostLacks if this host cannot start a program in this way.
    """
    given = [str(ground.ws), str(ground.out)]
    if way == "a script":
        return [str(script_at(ground.ws / "script", ATTEMPT)), *given]
    plain = ["/bin/sh", "-c", ATTEMPT, "sh", *given]
    loader = loader_of(Path("/bin/sh"))
    if loader is None:
        raise HostLacks("working escape attempts", "/bin/sh is linked statically here")
    return plain if way == "dynamic" else [loader, *plain]


def loader_of(program: Path) -> str | None:
    """Return the dynamic linker that a 64-bit program names (elf(5), PT_INTERP), or None."""
    image = program.read_bytes()
    if image[:6] != b"\x7fELF\x02\x01":
        return None
    offset = int.from_bytes(image[32:40], "little")
    size, count = (int.from_bytes(image[at : at + 2], "little") for at in (54, 56))
    for at in range(offset, offset + size * count, size):
        if int.from_bytes(image[at : at + 4], "little") == 3:
            begin = int.from_bytes(image[at + 8 : at + 16], "little")
            return image[begin : image.index(b"\0", begin)].decode()
    return None


@requires("BACKEND-WRITE-05", needs=[WORK, "BACKEND-LAUNCH-07"])
@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_start_is_confined(case: BackendCase, way: str) -> None:
    with made_ground() as ground:
        done = subprocess.run(start(way, ground), check=False, capture_output=True)
        if not (ground.out / "made").exists():
            raise HostLacks(
                "working escape attempts", f"{way}: {done.stderr!r} even without a sandbox"
            )
    with made_ground() as ground:
        program, *args = start(way, ground)
        session = case.backend.run(
            [{"program": program, "args": args}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        made = (ground.out / "made").exists()
        if made:
            session.excuse("fs-write", f"{way}: out/made")
            raise Failure(
                f"a file outside, by a program that is {way}",
                "it is not made",
                "it is there",
                verdict=Verdict.CONTRADICTION,
            )
        wrote = (ground.ws / "sibling").exists()
        expect(
            "result of creating a file in the workspace", wrote, True, verdict=Verdict.OVERREFUSED
        )


@requires("BACKEND-WRITE-02", needs=[WORK])
def test_a_cache_that_a_program_made_a_link_leads_nowhere(case: BackendCase) -> None:
    """Replace HOME/.cache by a link.

    full-dev permits HOME/.cache by its name. If the root contains HOME, a program can replace the
    directory.
    """
    with made_ground() as ground:
        home, out = ground.home, ground.out
        (home / ".cache").mkdir()
        ground.watch(out)
        lines = {
            "repo-write": f"rmdir .cache && ln -s {out} .cache",
            "full-dev": f"(: >{out}/made); (: >.cache/made); echo ran",
        }
        for profile, line in lines.items():
            session = case.backend.run(
                [{"program": "/bin/sh", "args": ["-c", line]}],
                root=home,
                profile=profile,
                on_unavailable="degrade",
                shim_env={"HOME": str(home)},
            )
            session.need_enforcement()
            if not (home / ".cache").is_symlink():
                return
        expect_nothing_outside(session, ground.changes(), "a link of the root")
        ran = b"ran\n" in session.only.stdout
        expect("whether the shell line was executed", ran, True, verdict=Verdict.OVERREFUSED)


def link_through(ground: Ground, way: str) -> Path:
    """Return a path that leads outside through a link in the workspace."""
    inner = ground.ws / "inner"
    inner.symlink_to(ground.out)
    if way == "in the root":
        return inner
    if way == "by a parent":
        ground.out.joinpath("below").mkdir()
        return inner / "below"
    outer = ground.folder / "outer"
    outer.symlink_to(inner)
    return outer


@requires("BACKEND-WRITE-09", needs=[WORK])
@pytest.mark.parametrize("way", ["in the root", "by a parent", "from outside"])
@pytest.mark.parametrize("variable", ["HOME", "TMPDIR"])
def test_a_variable_that_a_link_leads_outside_changes_nothing(
    case: BackendCase, variable: str, way: str
) -> None:
    """Replace HOME/.cache and TMPDIR by links to a place outside.

    A session may grant HOME/.cache and keep its files in TMPDIR. If both lie in the root, a program
    of an earlier session can replace them.
    """
    with made_ground() as ground:
        place = link_through(ground, way)
        (place / ".cache").mkdir()
        ground.watch(ground.out)
        last_change = place.stat().st_mtime_ns
        line = ': >"$1/sibling"; (: >"$2/made"); (: >"$2/.cache/made")'
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line, "sh", str(ground.ws), str(place)]}],
            root=ground.ws,
            profile="full-dev",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)} | {variable: str(place)},
        )
        session.need_enforcement()
        expect_nothing_outside(session, ground.changes(), f"{variable} {way}")
        # The time of the directory also changes if the session has removed its file again.
        if place.stat().st_mtime_ns != last_change:
            raise Failure(
                f"the directory outside to which {variable} leads, {way}",
                "nothing is created in it",
                "something was created in it and removed",
            )
        wrote = (ground.ws / "sibling").exists()
        expect(
            "result of creating a file in the workspace", wrote, True, verdict=Verdict.OVERREFUSED
        )


# The program waits at two gates. It opens the first gate itself, which shows that it runs. The test
# mounts a file system before it opens the second gate.
LATE = 'read -r word <"$1/there"; read -r word <"$1/mounted"; mkdir "$2/made"; : >"$1/sibling"'


def mount_beside(pid: int, source: Path, at: Path) -> None:
    """Mount in the namespace of the shim, as an automounter does outside of all sandboxes."""
    words = ["nsenter", f"--mount=/proc/{pid}/ns/mnt"]
    tried = subprocess.run([*words, "mount", "--bind", source, at], check=False)
    seen = subprocess.run([*words, "test", "-e", at / "file"], check=False)
    if tried.returncode or seen.returncode:
        raise HostLacks(
            "working escape attempts", "no file system can be mounted here while a program runs"
        )


@requires("BACKEND-WRITE-07")
def test_a_mount_that_comes_later_is_not_written_to(case: BackendCase) -> None:
    with made_ground() as ground:
        source, at = ground.folder / "source", ground.out / "late"
        for folder in (source, at):
            folder.mkdir()
        (source / "file").touch()
        gates = [ground.ws / name for name in ("there", "mounted")]
        for gate in gates:
            os.mkfifo(gate)
        call: ExecRequest = {"program": "/bin/sh", "args": ["-c", LATE, "sh", ground.ws, at]}
        with case.backend.start(
            [call],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            state=["--share-mounts"],
        ) as shim:
            case.open_gate(gates[0])
            mount_beside(shim.shim_pid, source, at)
            case.open_gate(gates[1])
            session = shim.finish()
        session.need_enforcement()
        wrote = (ground.ws / "sibling").exists()
        expect(
            "whether the program can write in the root", wrote, True, verdict=Verdict.OVERREFUSED
        )
        made = [str(path) for path in (source / "made", at / "made") if path.exists()]
        expect_nothing_outside(session, made, "what was mounted meanwhile")


@requires("BACKEND-WRITE-08")
def test_no_subvolume_is_made_outside(case: BackendCase) -> None:
    attempt(case, "w_subvolume")
