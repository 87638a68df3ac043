#!/usr/bin/env node
// A shim for boxspec, contract backend. Four places say FILL IN: name, the features that your
// sandbox lacks, its claims, and its command line. Until then programs are confined by bubblewrap,
// so that `boxspec smoke` and `boxspec run` answer at once. The other files need no change.
import { main } from './protocol.mjs';
import { operations } from './session.mjs';

// FILL IN: the name and version of your sandbox, and how it confines.
const about = { name: 'my-implementation', version: '0.1', language: 'JavaScript' };
const name = 'mine';
const mechanism = 'namespaces';
// FILL IN: the features that your sandbox lacks: "open network", "cache", or a profile.
const lacks = ['cache', 'full-dev'];

// FILL IN: its claims: "fully", or the reason why an aspect is not enforced.
const claims = {
  'fs-write': 'fully',
  'fs-metadata': 'fully',
  process: 'fully',
  network: 'this sandbox leaves the network open',
  ipc: 'this sandbox shares queues, shared memory and sockets with the host',
};

// FILL IN: the command that runs `argv` in your sandbox. Programs may write in `root` (not under
// the profile read-only) and in `scratch`, a private directory outside the root, and start in
// `cwd`.
function command(argv, root, scratch, cwd, profile) {
  const words = ['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--unshare-user'];
  words.push('--unshare-pid', '--proc', '/proc', '--die-with-parent', '--new-session');
  words.push('--bind', scratch, scratch);
  words.push(profile === 'read-only' ? '--ro-bind' : '--bind', root, root);
  return [...words, '--chdir', cwd, '--', ...argv];
}

const backends = { [name]: { mechanism, lacks } };
await main(
  { implementation: about, capabilities: ['backend'], backends },
  operations({ name, claims, command }),
);
