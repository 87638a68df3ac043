#!/usr/bin/env node
// A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
// execute a module. Until then modules are executed by running.mjs, so that `boxspec run` begins
// with a shim that conforms to profile contract. A failure is then about your code. json.mjs and
// protocol.mjs need no change.
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as json from './json.mjs';
import { content, decode, main } from './protocol.mjs';
import { run } from './running.mjs';

// FILL IN: the name and version of your implementation.
const about = { name: 'my-implementation', version: '0.1', language: 'JavaScript' };
// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const capabilities = ['module'];

function failure(kind, module_id, fields) {
  return { error: { class: kind, module_id, ...fields } };
}

/** Return the environment of a module: a few variables of the caller, and no secret. */
function environment(folder) {
  const passed = /^(?:PATH|LANG|LC_ALL|APCORE_(?!AUTH_).*)$/s;
  const given = Object.entries(process.env).filter(([name]) => passed.test(name));
  return { ...Object.fromEntries(given), HOME: folder, TMPDIR: folder };
}

// FILL IN: execute one module in a child process; return `value` or `error`.
async function execute(module, program, input, timeout_ms) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'module-')));
  const options = { cwd: folder, env: environment(folder) };
  let done;
  try {
    done = await run(program, json.stringify(input), json.number(timeout_ms), options);
  } catch (why) {
    return failure('SpawnFailed', module, { message: why.message });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { code, out, err, ended } = done;
  if (ended === 'Timeout') return failure('Timeout', module, { timeout_ms });
  if (ended !== undefined) return failure('Interrupted', module, { signal: ended });
  if (code !== 0) {
    return failure('NonZeroExit', module, { exit_code: code, stderr: err.toString() });
  }
  try {
    return { value: json.parse(decode(out)) };
  } catch (why) {
    return failure('OutputParseFailed', module, { reason: why.message });
  }
}

function startsAChild({ enabled = true }) {
  return enabled;
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function moduleExecute(message) {
  const { module_id, input, timeout_ms } = message;
  if (!startsAChild(message)) return failure('NotWired', module_id);
  const given = 'extensions_root' in message || 'extensions_root_b64' in message;
  const other = process.env.APCORE_EXTENSIONS_ROOT ?? './extensions';
  const root = given ? content(message, 'extensions_root').toString() : other;
  const program = resolve(root, module_id);
  if (!isFile(program)) {
    return failure('SpawnFailed', module_id, { message: `module not found: ${program}` });
  }
  return execute(module_id, program, input, timeout_ms || 300_000);
}

const fields = ['module_id', 'input', 'enabled', 'timeout_ms'];
fields.push('extensions_root', 'extensions_root_b64');
await main(
  { implementation: about, capabilities },
  { 'module.execute': { take: moduleExecute, fields, onlyRun: startsAChild } },
  json,
);
