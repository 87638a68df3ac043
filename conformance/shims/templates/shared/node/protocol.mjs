// The two modes of boxspec's shim protocol, run and serve. This file needs no change.
// shim-protocol.md of boxspec describes requests and answers.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** An answer of kind `error`: new Failed('invalid_input', 'the root does not exist'). */
export class Failed extends Error {
  constructor(kind, message) {
    super(message);
    this.answer = { error: { kind, message } };
  }
}

/** An answer of kind `unsupported`, with the name of a capability or operation. */
export class Unsupported extends Error {
  constructor(capability, why = 'not in this shim') {
    super(why);
    this.answer = { unsupported: { capability, why } };
  }
}

/** Return the bytes of a field, which has the suffix _b64 if they are not UTF-8. */
export function content(given, name) {
  const encoded = given[`${name}_b64`];
  return encoded === undefined ? Buffer.from(given[name]) : Buffer.from(encoded, 'base64');
}

/** Decode UTF-8. Throw a TypeError if the bytes are something else. */
export function decode(bytes) {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Return the text of a field. It fails if it is not UTF-8: this shim needs no other texts. */
export function text(given, name) {
  try {
    return decode(content(given, name));
  } catch {
    throw new Failed('invalid_input', `\`${name}\` is not UTF-8`);
  }
}

/** Refuse each field that the shim does not know: the protocol forbids to ignore one. */
export function refuseOthers(given, known, capability) {
  const more = Object.keys(given).filter((name) => !known.includes(name));
  if (more.length > 0) throw new Unsupported(capability, `unknown fields: ${more.join(', ')}`);
}

async function answer(message, hello, operations, serving) {
  const { op, nonce } = message;
  if (op === 'hello') return { result: { protocol: 1, nonce, pid: process.pid, ...hello } };
  if (op === 'bye') return { result: {} };
  try {
    if (!Object.hasOwn(operations, op)) throw new Unsupported(op);
    const { take, fields, onlyRun } = operations[op];
    refuseOthers(message, ['id', 'op', 'hold', ...fields], op);
    if (serving && onlyRun(message)) {
      throw new Failed('invalid_input', 'programs are started in run mode only');
    }
    return { result: await take(message) };
  } catch (why) {
    return why.answer ?? new Failed('io', String(why)).answer;
  }
}

/**
 * Answer the requests of the kit.
 *
 * operations: for each operation its function `take`, the names of its `fields`, and `onlyRun`,
 * which returns true for a message that `serve` refuses.
 * json: reads requests and writes answers. JSON itself rounds large numbers.
 */
export async function main(hello, operations, json = JSON) {
  const [mode, from, to] = process.argv.slice(2);
  const reply = async (asked) =>
    json.stringify({ id: asked.id, ...(await answer(asked, hello, operations, mode === 'serve')) });
  if (mode === 'serve') {
    let rest = '';
    for await (const chunk of process.stdin.setEncoding('utf8')) {
      rest += chunk;
      const lines = chunk.includes('\n') ? rest.split('\n') : [rest];
      rest = lines.pop();
      for (const line of lines) {
        const asked = json.parse(line);
        process.stdout.write(`${await reply(asked)}\n`);
        if (asked.op === 'bye') return;
      }
    }
  } else {
    const asked = json.parse(readFileSync(from, 'utf8'));
    writeFileSync(`${to}.new`, await reply(asked));
    renameSync(`${to}.new`, to); // in one step: a reader never sees part of an answer
    if ('hold' in asked) readFileSync(asked.hold);
  }
}
