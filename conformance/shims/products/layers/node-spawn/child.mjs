// A child of child_process: how it is started, and how it is waited for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { take } from '../../wire.mjs';

export const STREAMS = ['stdin', 'stdout', 'stderr'];
export const MODES = ['inherit', 'pipe', 'ignore'];
export const FIELDS = ['program', 'args', 'current_dir', 'env'];

export const failed = (kind, message) => ({ error: { kind, message } });
export const refused = (message) => failed('invalid_input', message);

export async function open(request, modes) {
  const env = request.env ?? 'inherit';
  const child = spawn(take(request, 'program', 'process'), take(request, 'args', 'process') ?? [], {
    cwd: take(request, 'current_dir', 'process'),
    env: env === 'inherit' ? process.env : Object.fromEntries(take(env, 'clear_and_set', 'process')),
    stdio: modes.map((mode) => MODES[mode]),
    detached: true,
  });
  child.stdin?.on('error', () => {}); // the writer reports it
  await once(child, 'spawn'); // throws if 'error' comes first
  return child;
}

export function ended(child) {
  if (child.signalCode !== null) return { signaled: child.signalCode };
  return child.exitCode !== null ? { exited: child.exitCode } : { running: true };
}

export async function wait(child, ms) {
  if (ended(child).running && ms !== 0) {
    const over = new AbortController();
    const ways = [once(child, 'exit', over)];
    let timer;
    if (ms !== undefined) ways.push(new Promise((late) => (timer = setTimeout(late, ms))));
    await Promise.race(ways);
    clearTimeout(timer);
    ways[0].catch(() => {});
    over.abort();
  }
  return ended(child);
}
