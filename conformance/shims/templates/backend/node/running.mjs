// One run of one command, answered as `exec.run` does. This file needs no change.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fstatSync, readFileSync } from 'node:fs';
import { content } from './protocol.mjs';

const LONGEST_MS = 2 ** 31 - 1; // setTimeout would call at once after a longer time

/** Return the text of a stream, or its digest if it has more than 1 MiB. */
function stream(pieces) {
  const text = Buffer.concat(pieces).toString();
  const raw = Buffer.from(text);
  if (raw.length <= 1 << 20) return text;
  return {
    bytes: raw.length,
    sha256: createHash('sha256').update(raw).digest('hex'),
    head_b64: raw.subarray(0, 4096).toString('base64'),
    tail_b64: raw.subarray(-4096).toString('base64'),
  };
}

/**
 * Return the input of the program, or null if it has no pipe. A file on the stdin of the shim goes
 * through a pipe, too: through /proc a program could open the file again for writing, although it
 * lies outside the sandbox.
 */
function input(stdin) {
  if (typeof stdin === 'object') return content(stdin, 'bytes');
  return stdin === 'inherit' && fstatSync(0).isFile() ? readFileSync(0) : null;
}

export function run({ stdin = 'inherit', timeout_ms }, [program, ...args], cwd, env) {
  const data = input(stdin);
  const source = data ? 'pipe' : { null: 'ignore', inherit: 'inherit' }[stdin];
  const started = process.hrtime.bigint();
  const stdio = [source, 'pipe', 'pipe'];
  const child = spawn(program, args, { cwd, env, stdio, detached: true });
  const output = { stdout: [], stderr: [] };
  let timer;
  let late = false;
  const end = () => {
    late = true;
    process.kill(-child.pid, 'SIGKILL');
  };
  return new Promise((resolve) => {
    child.on('error', (why) => {
      const message = `failed to spawn \`${program}\`: ${why.message}`;
      resolve({ error: { kind: 'execution', message } });
    });
    child.on('spawn', () => {
      if (timeout_ms !== undefined) timer = setTimeout(end, Math.min(timeout_ms, LONGEST_MS));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const result = {
        success: code === 0 && !late,
        stdout: stream(output.stdout),
        stderr: stream(output.stderr),
        exit_code: late ? null : code,
        duration_ms: Number((process.hrtime.bigint() - started) / 1000000n),
        output: null,
      };
      resolve({ result });
    });
    for (const name of ['stdout', 'stderr']) {
      child[name].on('data', (piece) => output[name].push(piece));
    }
    child.stdin?.on('error', () => {}); // the program may end before it has read its input
    if (data) child.stdin.end(data);
  });
}
