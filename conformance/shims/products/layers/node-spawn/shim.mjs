// spawn of node:child_process as a handle; operations that it does not have are refused.
import { once } from 'node:events';
import { main } from '../../wire.mjs';
import { ended, failed, open } from './child.mjs';
import { Script } from './script.mjs';

async function bridge({ request }) {
  let child;
  try {
    child = await open(request, [1, 1, 1]);
  } catch (why) {
    return failed('execution', `failed to spawn: ${why.message}`);
  }
  process.stdin.pipe(child.stdin);
  child.stdout.pipe(process.stdout);
  child.stderr.pipe(process.stderr);
  await once(child, 'close');
  return { result: ended(child) };
}

main({
  about: { name: 'child_process.spawn', version: process.version, language: 'JavaScript' },
  capabilities: ['process'],
  operations: {
    'process.script': (message) => new Script(message).run(),
    'process.bridge': bridge,
  },
  runOnly: ['process.script', 'process.bridge'],
});
