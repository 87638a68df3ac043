"""Files below the home directory in which programs keep secrets, and the modes of decoys."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path, PurePath

# The title and the files of each default row.
SECRETS = {
    "cloud": (
        "cloud credentials",
        (
            *(".aws/credentials", ".config/gcloud/application_default_credentials.json"),
            *(".azure/msal_token_cache.json", ".kube/config", ".vault-token"),
            *(".terraform.d/credentials.tfrc.json", ".aws/sso/cache/token.json"),
            *(".aws/cli/cache/session.json", ".config/gcloud/credentials.db", ".boto", ".s3cfg"),
            *(".config/rclone/rclone.conf", ".config/doctl/config.yaml", ".fly/config.yml"),
            *(".oci/oci_api_key.pem", ".config/hcloud/cli.toml", ".config/sops/age/keys.txt"),
            *(".pulumi/credentials.json", ".databrickscfg", ".config/stripe/config.toml"),
            *(".config/configstore/firebase-tools.json", ".config/netlify/config.json"),
            *(".local/share/com.vercel.cli/auth.json", ".config/ngrok/ngrok.yml"),
            *(".config/.wrangler/config/default.toml", ".railway/config.json", ".snowsql/config"),
        ),
    ),
    "registries": (
        "registry, git credentials",
        (
            *(".npmrc", ".pypirc", ".netrc", ".git-credentials"),
            *(".docker/config.json", ".cargo/credentials.toml", ".config/gh/hosts.yml"),
            *(".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".pgpass"),
            *(".config/containers/auth.json", ".config/glab-cli/config.yml", ".cargo/credentials"),
            *(".config/git/credentials", ".config/composer/auth.json", ".bundle/config"),
            *(".nuget/NuGet/NuGet.Config", ".my.cnf", ".yarnrc.yml", ".config/pip/pip.conf"),
        ),
    ),
    "browsers": (
        "browser profiles, keyrings",
        (
            *(".mozilla/firefox/a1b2.default/logins.json", ".thunderbird/a.default/logins.json"),
            *(".config/google-chrome/Default/Login Data", ".config/chromium/Default/Cookies"),
            ".password-store/mail.gpg",
            ".gnupg/private-keys-v1.d/0A1B.key",
            *(".local/share/keyrings/login.keyring", ".local/share/kwalletd/kdewallet.kwl"),
            *(".config/BraveSoftware/Brave-Browser/Default/Cookies", ".Xauthority"),
            *(".config/microsoft-edge/Default/Cookies", ".config/Signal/config.json"),
            *(".config/Slack/Cookies", ".local/share/TelegramDesktop/tdata/key_datas"),
            *(".vnc/passwd", ".bitcoin/wallet.dat", ".electrum/wallets/default_wallet"),
        ),
    ),
    "history": (
        "shell history",
        (
            *(".bash_history", ".zsh_history", ".python_history", ".psql_history"),
            *(".local/share/fish/fish_history", ".node_repl_history", ".mysql_history"),
            *(".sqlite_history", ".rediscli_history", ".irb_history", ".viminfo", ".lesshst"),
            *(".local/share/atuin/history.db", ".local/state/bash/history"),
        ),
    ),
    "agent-secrets": (
        "secrets of coding agents",
        (
            *(".claude/.credentials.json", ".claude.json", ".codex/auth.json"),
            *(".gemini/oauth_creds.json", ".local/share/opencode/auth.json"),
            *(".claude/projects/a/session.jsonl", ".claude/history.jsonl", ".codex/history.jsonl"),
            *(".codex/sessions/a.jsonl", ".config/github-copilot/apps.json"),
            *(".config/goose/secrets.yaml", ".qwen/oauth_creds.json", ".aider.chat.history.md"),
            *(".config/Cursor/User/globalStorage/state.vscdb", ".cache/huggingface/token"),
            *(".kaggle/kaggle.json", ".config/io.datasette.llm/keys.json", ".codeium/config.json"),
        ),
    ),
}
SECRET_FILES = tuple(name for _, names in SECRETS.values() for name in names)
# The programs that use these folders make them accessible to their user only.
PRIVATE_FOLDERS = frozenset({".ssh", ".gnupg"})
FOLDER, FILE = 0o755, 0o644


def mode_of_decoy(name: PurePath, own: Path, *, is_folder: bool) -> int:
    """Return the permissions of a decoy. They decide whether a program of another user can read it.

    A decoy gets the permissions of the user's own file. If the user has no such file, the decoy
    gets the permissions with which its program would make it.

    name: the path of the decoy, relative to the home directory or to the workspace.
    own: the same path of the user.
    """
    kept = 0o700 if is_folder else 0o600
    try:
        return own.stat().st_mode & 0o777 | kept
    except OSError:
        pass
    if is_folder:
        return kept if name.name in PRIVATE_FOLDERS else FOLDER
    return kept if str(name) in SECRET_FILES else FILE


def set_mode(path: Path, bases: Iterable[tuple[Path, Path]]) -> None:
    """Give a decoy, and each folder above it, the permissions of the user's own files.

    bases: folders of decoys, each with the user's own folder; the inner folder comes first.
    """
    for base, own in bases:
        if not path.is_relative_to(base):
            continue
        name = path.relative_to(base)
        for each in (name, *name.parents[:-1]):
            if not (made := base / each).exists():
                continue
            mode = mode_of_decoy(each, own / each, is_folder=made.is_dir())
            # The mode is changed only if it is wrong: after the start, a chmod would count as a
            # change by the command.
            if stat.S_IMODE(made.stat().st_mode) != mode:
                made.chmod(mode)
        return
