"""Configurations with a mistake: launchers that start unlike a plain bubblewrap, and launchers that
use files of the workspace. Each script was written for this test, after public reports.
"""

from __future__ import annotations

from dataclasses import replace

from selftest.verify.configurations import (
    BLOCKED,
    NO_HOME,
    USUAL,
    Configuration,
    row,
    rule,
)

PLAIN = USUAL.format(NO_HOME)
# Programs inside can write to the folder of the home directory, which contains the marks too.
OPEN_HOME = USUAL.format('--bind "$HOME/.." "$HOME/.."')
HOOK = "[ ! -f ./.boxrc ] || . ./.boxrc\n"
# A launcher that restricts itself with Landlock, which closes TCP too, and becomes the program.
# Rights, as numbers: 1 execute, 2 write a file, 4 read a file, 8 read a folder. The others make and
# remove names.
LANDLOCK = """exec /usr/bin/python3 -I -c '
import ctypes, os, struct, sys

landlock_restrict = 446
libc = ctypes.CDLL(None)
handled = RIGHTS
ruleset = libc.syscall(444, struct.pack("QQ", handled, 3), 16, 0)
for path, rights in {"/": 13, "/dev/null": 2, os.getcwd(): handled, **MORE}.items():
    rule = struct.pack("=Qi", rights & handled, os.open(path, os.O_PATH))
    assert libc.syscall(445, ruleset, 1, rule, 0) == 0, path
libc.prctl(38, 1, 0, 0, 0)
assert libc.syscall(landlock_restrict, ruleset, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
' "$@"
"""
ALL, ALL_BUT_NAMES = "0x7fff", "15"
SYSTEM = "usr bin sbin lib lib64 etc proc dev"
# A container without a launcher: a folder with mounts of the system becomes the root directory.
CONTAINER = f"""exec unshare --mount --ipc --net --uts --pid --fork --kill-child sh -c '
new=/tmp
mount -t tmpfs none $new
for each in {SYSTEM}; do
  [ -d /$each ] || continue
  mkdir $new/$each && mount --rbind /$each $new/$each
done
mkdir -p "$new/$PWD" $new/tmp && mount --bind "$PWD" "$new/$PWD"
{{}}
' sh "$@"
"""
FIREJAIL = (
    "exec firejail --quiet --noprofile --private-tmp --private-dev --caps.drop=all --nonewprivs"
    ' --deterministic-exit-code --deterministic-shutdown {} -- "$@"\n'
)
FOLDERS = """\
file="{}"
[ -e "$file" ] || echo '{"write": []}' >"$file"
more=$(/usr/bin/python3 -I -c '
import json, sys
for each in json.load(open(sys.argv[1]))["write"]: print("--bind", each, each)' \\
  "$file") || exit 1
"""


def landlock_wrapper(rights: str, more: str) -> str:
    return LANDLOCK.replace("RIGHTS", rights).replace("MORE", more)


# The launcher executes the hook outside, and the program executes it inside too.
HOOK_INSIDE = OPEN_HOME.replace(
    '"$@"', 'sh -c \'[ ! -f .boxrc ] || . ./.boxrc; exec "$@"\' sh "$@"'
)

OF_STARTS = {
    "an_output_folder_whose_files_vanish": Configuration(
        ("--allow-write", "build/"),
        "allow-write:build/",
        f"mkdir -p build\n{USUAL}",
        '--tmpfs "$PWD/build"',
        "",
        BLOCKED,
    ),
    "a_service_that_is_not_reached": Configuration(
        ("--allow-host", "127.0.0.1:18473"),
        "allow-host:127.0.0.1:18473",
        USUAL,
        "",
        "--share-net",
        BLOCKED,
    ),
    "a_repository_that_is_read_only": Configuration(
        ("--row", "work"), "work", USUAL, '--ro-bind "$PWD/.git" "$PWD/.git"', "", BLOCKED
    ),
    "a_mask_of_the_first_level": rule(
        "deny-read",
        "secrets/**",
        f"mkdir -p secrets\n{USUAL}",
        "$(for each in secrets/*; do"
        ' [ ! -f "$each" ] || echo "--ro-bind /dev/null $PWD/$each"; done)',
        '--tmpfs "$PWD/secrets"',
    ),
    "a_file_of_the_workspace_that_opens_the_network": row(
        "planted", f"{{}}{USUAL.format('$more')}", "[ ! -e .allow-net ] || more=--share-net\n", ""
    ),
    "a_log_that_becomes_a_link": row(
        "planted", f"exec 2>>{{}}\necho start >&2\n{PLAIN}", "./box.log", '"$HOME/.box.log"'
    ),
    "a_clean_up_that_follows_a_link": row(
        "planted", f"mkdir -p cache\nrm -rf {{}}\nmkdir -p cache\n{PLAIN}", "cache/*", "cache"
    ),
    "a_mode_that_is_set_through_a_link": row(
        "planted",
        f"[ -e out.txt ] || : >out.txt\n{{}}\n{PLAIN}",
        "chmod 646 out.txt",
        "[ -L out.txt ] || chmod 646 out.txt",
    ),
    "a_path_that_begins_in_the_workspace": row(
        "planted", f'PATH="{{}}$PATH"\n{PLAIN}', "./node_modules/.bin:", ""
    ),
    "a_path_in_variables_of_the_workspace": row(
        "planted",
        f"[ ! -f box.env ] || {{}}\nunset LD_PRELOAD\n{PLAIN}",
        "export $(cat box.env | xargs)",
        ":",
    ),
    "folders_in_json_of_the_workspace": row(
        "planted",
        FOLDERS + USUAL.replace("{}", f"{NO_HOME} $more"),
        ".box.json",
        "$HOME/.box.json",
    ),
    "a_hook_and_a_writable_home_directory": row("planted", "{}" + OPEN_HOME, HOOK, ""),
    "a_hook_that_must_run_inside": row("planted", "{}" + HOOK_INSIDE, HOOK, ""),
    "a_start_file_of_a_shell": row(
        "planted",
        f"{{}}bash -c 'exec \"$@\"' bash {PLAIN.removeprefix('exec ')}",
        "BASH_ENV=./.bashenv ",
        "",
    ),
    "a_root_directory_by_chroot": row(
        "ssh-keys",
        CONTAINER,
        'exec chroot $new sh -c "cd \\"$PWD\\" && exec \\"\\$@\\"" sh "$@"',
        'mkdir $new/old && cd $new && pivot_root . old && umount -l old && rmdir old && cd "$PWD"\n'
        'mount -t proc none /proc && exec setpriv --bounding-set -all --inh-caps -all "$@"',
        only_root=True,
    ),
    "rights_of_landlock_that_are_missing": row(
        "outside", landlock_wrapper("{}", "dict()"), ALL_BUT_NAMES, ALL
    ),
    "a_home_directory_that_landlock_grants": row(
        "start-files",
        landlock_wrapper(ALL, "{}"),
        '{os.environ["HOME"]: handled}',
        "dict()",
    ),
    "a_hook_before_landlock": row(
        "planted",
        "{}" + landlock_wrapper(ALL, '{os.environ["HOME"] + "/..": handled}'),
        HOOK,
        "",
    ),
    "one_key_of_a_folder_of_keys": row(
        "ssh-keys",
        FIREJAIL,
        '--blacklist="$HOME/.ssh/id_rsa"',
        '--blacklist="$HOME/.ssh"',
        needs="firejail",
    ),
    "a_profile_without_a_network": Configuration(
        ("--no-network",), "no-network", FIREJAIL, "", "--net=none", needs="firejail"
    ),
    "a_variable_that_the_profile_keeps": Configuration(
        ("--deny-env", "MY_TOKEN"),
        "deny-env:MY_TOKEN",
        FIREJAIL,
        "",
        "--rmenv=MY_TOKEN",
        needs="firejail",
    ),
    "a_folder_that_is_writable_in_a_read_only_home_directory": row(
        "start-files",
        FIREJAIL,
        '--read-only="$HOME" --read-write="$HOME/.local" --read-write="$PWD"',
        '--read-only="$HOME" --read-write="$PWD"',
        needs="firejail",
    ),
}
# Landlock closes TCP since this version.
LANDLOCK_ABI = 4
OF_STARTS = {
    name: replace(each, landlock=LANDLOCK_ABI) if "landlock_restrict" in each.body else each
    for name, each in OF_STARTS.items()
}
