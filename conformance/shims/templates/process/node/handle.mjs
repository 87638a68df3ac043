// FILL IN: one handle of your implementation. Each method takes a step and returns its result.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endOf, release } from './ending.mjs';
import { content, Failed, refuseOthers } from './protocol.mjs';
import { keep, readToEnd, readUntil, write } from './streams.mjs';

const NAMES = ['stdin', 'stdout', 'stderr'];
const MODES = ['inherit', 'pipe', 'ignore'];

export class Handle {
  constructor(asked) {
    Object.assign(this, { asked, child: undefined, owned: new Set() });
  }

  async open() {
    const { program, args = [], current_dir, env = 'inherit' } = this.asked.request;
    refuseOthers(this.asked.request, ['program', 'args', 'current_dir', 'env'], 'process');
    const modes = NAMES.map((name) => this.asked[name] ?? 1);
    if (!modes.every((mode) => mode in MODES)) {
      throw new Failed('invalid_input', `a stream mode is 0, 1 or 2: ${modes}`);
    }
    const child = spawn(program, args, {
      cwd: current_dir,
      env: env === 'inherit' ? process.env : Object.fromEntries(env.clear_and_set),
      stdio: modes.map((mode) => MODES[mode]),
      detached: true, // the leader of a process group
    });
    await once(child, 'spawn'); // throws if the program cannot be started
    keep(child);
    this.child = child;
    this.owned = new Set(NAMES.filter((name, at) => modes[at] === 1));
    return { pid: child.pid };
  }

  streams() {
    return Object.fromEntries(NAMES.map((name) => [name, this.owned.has(name)]));
  }

  take({ stream = 'stdin' }) {
    return { taken: this.owned.delete(stream) };
  }

  write(step) {
    return write(this.child.stdin, content(step, 'data'));
  }

  read_until(step) {
    return readUntil(this.child[step.stream], content(step, 'until'));
  }

  read_eof(step) {
    return readToEnd(this.child[step.stream]);
  }

  close_stdin() {
    this.child.stdin.end();
    return {};
  }

  poll() {
    return this.wait({ timeout_ms: 0 });
  }

  wait({ timeout_ms }) {
    if (timeout_ms === undefined && this.owned.has('stdin')) this.child.stdin.end();
    return endOf(this.child, timeout_ms);
  }

  terminate() {
    this.child.kill('SIGTERM');
    return {};
  }

  kill() {
    this.child.kill('SIGKILL');
    return {};
  }

  async close({ grace_ms = 5000 }) {
    const { child } = this; // `drop` in another thread resets the handle
    child.kill('SIGTERM');
    if ((await endOf(child, grace_ms)).running) child.kill('SIGKILL');
    this.owned.clear();
    return { ...(await endOf(child)), detached_writers: false };
  }

  async drop() {
    if (this.child !== undefined) {
      release(this.child);
      await endOf(this.child);
    }
    Object.assign(this, new Handle(this.asked));
    return {};
  }
}
