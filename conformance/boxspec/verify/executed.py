"""Files that later programs execute, or in which programs find the names of other programs."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from boxspec.verify.layout import without_the_kit

# Files below the home directory that usually exist, and that a login reads or executes.
WRITTEN = (".bashrc", ".profile", ".ssh/authorized_keys")
# Files below the home directory that a login, a shell, a session or an interpreter executes.
STARTED = (
    *(".zshenv", ".zprofile", ".zshrc", ".zlogin", ".bash_login", ".bash_profile", ".bash_logout"),
    *(".xprofile", ".xinitrc", ".xsession", ".pam_environment", ".config/environment.d/a.conf"),
    *(".vimrc", ".emacs.d/init.el", ".tmux.conf", ".config/plasma-workspace/env/a.sh"),
    *(".config/fish/config.fish", ".config/nvim/init.lua", ".ssh/rc", ".gdbinit"),
    *(".config/autostart/a.desktop", ".config/systemd/user/a.service"),
    *(".local/share/applications/a.desktop", ".local/share/systemd/user/a.service"),
    *(".local/share/dbus-1/services/a.service", ".local/share/bash-completion/completions/a"),
    *(".ipython/profile_default/startup/a.py", ".vim/plugin/a.vim", ".emacs", ".zsh/a.zsh"),
    *(".config/zsh/.zshrc", ".config/sway/config", ".config/i3/config", ".oh-my-zsh/custom/a.zsh"),
    *(".local/share/nvim/site/plugin/a.lua", ".xsessionrc", ".screenrc", ".lldbinit", ".Rprofile"),
    *(".hgrc", ".irbrc", ".pryrc", ".sqliterc", ".psqlrc", ".ghci", ".julia/config/startup.jl"),
    *(".jupyter/jupyter_server_config.py", ".lessfilter", ".mailcap", ".config/mpv/scripts/a.lua"),
    # Programs that a container engine, kubectl or a browser starts.
    *(".docker/cli-plugins/docker-a", ".mozilla/native-messaging-hosts/a.json"),
    *(".config/google-chrome/NativeMessagingHosts/a.json",),
    *(".config/chromium/NativeMessagingHosts/a.json",),
    f".local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/usercustomize.py",
)
# Folders below the home directory that are often in PATH.
PROGRAMS = (
    *(".local/bin", "bin", ".cargo/bin", "go/bin", ".npm-global/bin", ".bun/bin", ".deno/bin"),
    *(".pyenv/shims", ".asdf/shims", ".volta/bin", ".krew/bin", ".pixi/bin"),
)
# Settings in the workspace of editors and agents that name programs to run or servers to ask.
PROJECT = (
    *(".vscode/tasks.json", ".vscode/settings.json", ".mcp.json", ".claude/settings.json"),
    *(".claude/settings.local.json", ".cursor/mcp.json", ".gemini/settings.json"),
    *(".codex/config.toml", "opencode.json", ".claude/agents/a.md", ".claude/commands/a.md"),
    *(".idea/workspace.xml", ".devcontainer/devcontainer.json", ".zed/tasks.json"),
)
# Settings of package managers, editors and agents that name programs to run or servers to ask.
SETTINGS = (
    *(".cargo/config.toml", ".cargo/env", ".gradle/init.gradle", ".ripgreprc"),
    *(".bunfig.toml", ".config/uv/uv.toml", ".config/Code/User/settings.json"),
    *(".config/zed/settings.json", ".config/helix/config.toml", ".config/direnv/direnvrc"),
    *(".config/Code/User/tasks.json", ".cursor/mcp.json", ".gemini/settings.json"),
    *(".config/opencode/opencode.json", ".aws/config", ".config/gh/config.yml"),
    *(".gnupg/gpg-agent.conf", ".config/containers/containers.conf", ".config/mise/config.toml"),
    *(".terraformrc", ".ansible.cfg", ".bazelrc", ".config/kitty/kitty.conf", ".curlrc"),
    *(".config/lazygit/config.yml", ".config/starship.toml", ".sbt/1.0/a.sbt"),
    # Editors run the code of their extensions.
    *(".vscode/extensions/a/package.json", ".vscode-server/extensions/a/package.json"),
    *(".cursor/extensions/a/package.json", ".continue/config.yaml"),
)
# The same, for files that also have secrets. Other rows ask whether they can be read.
SETTINGS_WITH_SECRETS = (
    *(".ssh/config", ".kube/config", ".docker/config.json", ".npmrc", ".m2/settings.xml"),
    *(".claude.json", ".config/pip/pip.conf", ".yarnrc.yml"),
)
# Files below the home directory from which package managers run programs and libraries that they
# have downloaded or built before.
CACHED = (
    *(".cache/pre-commit/repo/bin/hook", ".cache/uv/archive-v0/a/a.py", ".npm/_npx/a/index.js"),
    *("go/pkg/mod/example.org/a@v1.0.0/a.go", ".cargo/registry/src/a/build.rs"),
    *(".m2/repository/a/a.jar", ".gradle/caches/a.jar", ".local/share/pnpm/store/a.js"),
    *(".rustup/toolchains/stable/bin/cargo", ".nvm/versions/node/v20.0.0/bin/npm"),
    *(".pyenv/versions/3.11.0/bin/pip", ".sdkman/candidates/a/bin/a", ".pub-cache/bin/a"),
    *(".local/share/uv/tools/a/bin/a", ".local/pipx/venvs/a/bin/a", ".nuget/packages/a/a.dll"),
    *(".local/share/mise/installs/a/bin/a", ".ccache/a/a.o", ".ivy2/cache/a.jar", ".opam/a/bin/a"),
    *(".gem/ruby/3.1.0/gems/a/a.rb", ".composer/vendor/bin/a", ".ghcup/bin/ghc"),
)


def folders_of_programs() -> list[str]:
    """Return folders below the home directory in which a shell of the user finds programs first."""
    found = [*PROGRAMS]
    with contextlib.suppress(RuntimeError):
        home = Path.home()
        path = without_the_kit(os.environ, ()).get("PATH", "").split(os.pathsep)
        below = [Path(each) for each in path if each.startswith(f"{home}/") and ".." not in each]
        found += [str(each.relative_to(home)) for each in below]
    return list(dict.fromkeys(found))
