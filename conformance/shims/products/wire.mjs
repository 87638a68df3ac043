// The shim protocol for shims in Node, shared by all libraries.
//
// A shim calls `main` with a description of the library and one function per operation. The function
// gets the message and returns {result} or {error}, or throws Unsupported; it may be async.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The name of the capability, or of the operation. */
export class Unsupported extends Error {}

/** Return a field or its base64 counterpart; bytes that are not UTF-8 are refused. */
export function take(holder, name, capability) {
  const decode = (word) => {
    if (Array.isArray(word)) return word.map(decode);
    const bytes = Buffer.from(word, 'base64');
    if (!Buffer.from(bytes.toString()).equals(bytes)) throw new Unsupported(capability);
    return bytes.toString();
  };
  return `${name}_b64` in holder ? decode(holder[`${name}_b64`]) : holder[name];
}

/** Throw Unsupported for an unknown field. capability: the capability of a field, by name. */
export function only(holder, known, capability = {}) {
  for (const name of Object.keys(holder)) {
    const field = name.replace(/_b64$/, '');
    if (!known.includes(field)) throw new Unsupported(capability[field] ?? field);
  }
}

/** The text of a stream, or its digest where it has more than 1 MiB. */
export function stream(data) {
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

export async function main({ about, capabilities, operations, runOnly = [], constants }) {
  async function answer(message, serving) {
    const { op, nonce } = message;
    if (op === 'hello') {
      const said = { protocol: 1, nonce, pid: process.pid, implementation: about };
      const limits = { max_integer: '9007199254740992' };
      return { result: { ...said, spec_version: '1.0', capabilities, limits, constants } };
    }
    if (op === 'bye') return { result: {} };
    try {
      if (!(op in operations)) throw new Unsupported(op);
      if (serving && runOnly.includes(op)) {
        return { error: { kind: 'invalid_input', message: `${op} is for run mode` } };
      }
      return await operations[op](message);
    } catch (why) {
      if (!(why instanceof Unsupported)) throw why;
      return { unsupported: { capability: why.message, why: 'not in this shim' } };
    }
  }

  const [mode, from, to] = process.argv.slice(2);
  if (mode === 'serve') {
    for await (const line of createInterface({ input: process.stdin })) {
      const asked = JSON.parse(line);
      process.stdout.write(`${JSON.stringify({ id: asked.id, ...(await answer(asked, true)) })}\n`);
      if (asked.op === 'bye') break;
    }
  } else {
    const asked = JSON.parse(readFileSync(from, 'utf8'));
    writeFileSync(`${to}.new`, JSON.stringify({ id: asked.id, ...(await answer(asked, false)) }));
    renameSync(`${to}.new`, to); // atomic, so that no reader sees half an answer
    if ('hold' in asked) readFileSync(asked.hold);
  }
  process.exit(0);
}
