// execa, with its options for a timeout, a grace, a cap and a group of its own.
import { execa } from 'execa';
import { readFileSync } from 'node:fs';
import { main, only, stream, take, Unsupported } from './wire.mjs';

const manifest = new URL('node_modules/execa/package.json', import.meta.url);
const FIELDS = ['program', 'args', 'current_dir', 'stdin', 'env', 'timeout_ms', 'max_output_bytes'];
const CAPABILITY = {
  stdin_failure: 'exec.stdin_failure',
  sandbox: 'exec.sandbox',
  backend: 'exec.backend',
};

function options(request) {
  const { stdin = 'inherit', env = 'inherit' } = request;
  const made = {
    encoding: 'buffer',
    stripFinalNewline: false,
    reject: false,
    // This creates a new session and so a new group. Then `cleanup` has no effect, as documented.
    detached: true,
    forceKillAfterDelay: 5000,
    cwd: take(request, 'current_dir', 'exec.bytes'),
    timeout: request.timeout_ms,
    maxBuffer: request.max_output_bytes,
  };
  if (typeof stdin === 'object') {
    made.input = 'bytes_b64' in stdin ? Buffer.from(stdin.bytes_b64, 'base64') : stdin.bytes;
  } else {
    made.stdin = stdin === 'null' ? 'ignore' : 'inherit';
  }
  if (env !== 'inherit') {
    made.env = Object.fromEntries(take(env, 'clear_and_set', 'exec.bytes'));
    made.extendEnv = false;
  }
  for (const name of Object.keys(made)) if (made[name] === undefined) delete made[name];
  return made;
}

async function run(message) {
  only(message, ['id', 'op', 'request', 'hold'], CAPABILITY);
  const { debug, stdin_failure: failure, ...request } = message.request;
  if (debug) throw new Unsupported('exec.debug');
  if (failure === 'ignore') throw new Unsupported('exec.stdin_failure');
  only(request, FIELDS, CAPABILITY);
  const args = take(request, 'args', 'exec.bytes') ?? [];
  const started = process.hrtime.bigint();
  let done;
  try {
    done = await execa(take(request, 'program', 'exec.bytes'), args, options(request));
  } catch (why) {
    if (why instanceof Unsupported) throw why;
    return { error: { kind: 'execution', message: `failed to spawn: ${why.message}` } };
  }
  const { failed, exitCode, signal, timedOut, isMaxBuffer } = done;
  // "Not set when the subprocess could not be spawned": neither a code nor a signal.
  if (failed && exitCode === undefined && signal === undefined && !timedOut && !isMaxBuffer) {
    return { error: { kind: 'execution', message: `failed to spawn: ${done.shortMessage}` } };
  }
  const err = [done.stderr];
  if (timedOut) err.push(Buffer.from(`${done.stderr.length > 0 ? '\n' : ''}process timed out`));
  return {
    result: {
      success: !failed,
      stdout: stream(done.stdout),
      stderr: stream(Buffer.concat(err)),
      exit_code: timedOut || isMaxBuffer ? null : exitCode ?? null,
      duration_ms: Number((process.hrtime.bigint() - started) / 1000000n),
      output: null,
      truncated: isMaxBuffer,
    },
  };
}

main({
  about: { name: 'execa', version: JSON.parse(readFileSync(manifest)).version, language: 'JavaScript' },
  capabilities: ['exec', 'exec.cap'],
  operations: { 'exec.run': run },
  runOnly: ['exec.run'],
  constants: { grace_ms: 5000, tick_ms: 100 },
});
