// A bridge: a program whose streams are connected with the shim's own. This file needs no change.
import { once } from 'node:events';
import { Handle } from './handle.mjs';

/** Copy every byte of one stream to another, until the source or the target ends. */
async function copy(source, target) {
  target.on('error', () => source.destroy());
  try {
    for await (const piece of source) {
      if (!target.write(piece)) await once(target, 'drain');
    }
  } catch {
    // the target was closed
  }
}

export async function processBridge({ request }) {
  const bridged = new Handle({ request });
  await bridged.open();
  const { stdin, stdout, stderr } = bridged.child;
  process.stdin.pipe(stdin);
  await Promise.all([copy(stdout, process.stdout), copy(stderr, process.stderr)]);
  const end = await bridged.wait({});
  process.stdin.destroy(); // otherwise this process would wait for the end of its stdin
  return end;
}
