#!/usr/bin/env node
// A shim for boxspec. Four places say FILL IN: name, capabilities, constants, how to run.
// Until then it runs programs by spawnSync, so that `boxspec smoke` and `boxspec run` answer at
// once. shim-protocol.md of boxspec describes requests and answers.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// FILL IN: the name and version of your implementation.
const about = { name: 'my-implementation', version: '0.1', language: 'JavaScript' };
// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const capabilities = ['exec'];
const fields = ['program', 'args', 'current_dir', 'stdin', 'env', 'timeout_ms'];

// FILL IN: one run of one program by your implementation.
function run(request) {
  const stdin = request.stdin ?? 'inherit';
  const env = request.env ?? 'inherit';
  const started = process.hrtime.bigint();
  const done = spawnSync(request.program, request.args ?? [], {
    cwd: request.current_dir,
    env: env === 'inherit' ? process.env : Object.fromEntries(env.clear_and_set),
    input: stdin.bytes,
    stdio: [{ null: 'ignore', inherit: 'inherit' }[stdin] ?? 'pipe', 'pipe', 'pipe'],
    timeout: request.timeout_ms,
    maxBuffer: Infinity,
  });
  const late = done.error?.code === 'ETIMEDOUT';
  if (done.error && !late) {
    return { error: { kind: 'execution', message: done.error.message } };
  }
  return {
    result: {
      success: done.status === 0,
      stdout: stream(done.stdout),
      stderr: stream(done.stderr),
      exit_code: late ? null : done.status,
      duration_ms: Number((process.hrtime.bigint() - started) / 1000000n),
      output: null,
    },
  };
}

// The text of a stream, or its digest where it has more than 1 MiB.
function stream(data) {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);
  const raw = Buffer.from(text);
  if (raw.length <= 1 << 20) return text;
  return {
    bytes: raw.length,
    sha256: createHash('sha256').update(raw).digest('hex'),
    head_b64: raw.subarray(0, 4096).toString('base64'),
    tail_b64: raw.subarray(-4096).toString('base64'),
  };
}

function answer(message, serving) {
  const { id, op, hold, request = {}, ...beside } = message;
  if (op === 'hello') {
    const said = { protocol: 1, nonce: message.nonce, pid: process.pid, implementation: about };
    // FILL IN: the grace period after SIGTERM, and the interval of your checks.
    return { result: { ...said, capabilities, constants: { grace_ms: 5000, tick_ms: 100 } } };
  }
  if (op === 'bye') return { result: {} };
  const more = [...Object.keys(beside), ...Object.keys(request).filter((f) => !fields.includes(f))];
  if (op !== 'exec.run' || more.length > 0) {
    return { unsupported: { capability: op, why: `not in this shim: ${more.join(', ') || op}` } };
  }
  if (serving) {
    return { error: { kind: 'invalid_input', message: 'programs are run in run mode' } };
  }
  return run(request);
}

const [mode, from, to] = process.argv.slice(2);
if (mode === 'serve') {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ id: asked.id, ...answer(asked, true) })}\n`);
    if (asked.op === 'bye') break;
  }
  process.stdin.destroy();
} else {
  const asked = JSON.parse(readFileSync(from, 'utf8'));
  writeFileSync(`${to}.new`, JSON.stringify({ id: asked.id, ...answer(asked, false) }));
  renameSync(`${to}.new`, to); // in one step: a reader never sees part of an answer
  if ('hold' in asked) readFileSync(asked.hold);
}
