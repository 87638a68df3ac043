#!/usr/bin/env node
// A shim for boxspec, contract process. Three places say FILL IN: name, capabilities, and the class
// of a handle, in handle.mjs. Until then spawn of node:child_process starts the programs, so that
// `boxspec smoke` and `boxspec run` answer at once. The other files need no change.
import { processBridge } from './bridge.mjs';
import { Handle } from './handle.mjs';
import { Failed, main, refuseOthers } from './protocol.mjs';

// FILL IN: the name and version of your implementation.
const about = { name: 'my-implementation', version: '0.1', language: 'JavaScript' };
// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const capabilities = ['process'];

async function repeat(handles, { count, steps }) {
  let last = [];
  for (let repeated = 0; repeated < count; repeated++) {
    last = [];
    for (const step of steps) last.push(await take(handles, step));
    if (last.some((each) => 'error' in each)) return { repeated, last };
  }
  return { repeated: count, last };
}

/** Take one step of a script; return its result or its error. */
async function take(handles, step) {
  try {
    if (step.step === 'repeat') return await repeat(handles, step);
    return await handles[step.handle][step.step](step);
  } catch (why) {
    return why instanceof Failed ? why.answer : new Failed('execution', String(why)).answer;
  }
}

async function processScript({ handles: asked, steps }) {
  const handles = {};
  for (const [name, given] of Object.entries(asked)) {
    refuseOthers(given, ['request', 'stdin', 'stdout', 'stderr', 'nonblocking'], 'process');
    handles[name] = new Handle(given);
  }
  const threads = new Map();
  const results = [];
  for (const step of steps) {
    const { thread } = step;
    const before = threads.get(thread) ?? Promise.resolve();
    if (step.step === 'join') {
      await before;
      results.push({});
    } else if (thread === undefined) {
      results.push(await take(handles, step));
    } else {
      // Each named thread takes its steps in order, while the script goes on.
      const done = before.then(() => take(handles, step));
      threads.set(thread, done);
      results.push(done);
    }
  }
  const told = await Promise.all(results);
  for (const each of Object.values(handles)) await each.drop();
  return { steps: told };
}

const onlyRun = () => true;
await main(
  { implementation: about, capabilities },
  {
    'process.script': { take: processScript, fields: ['handles', 'steps'], onlyRun },
    'process.bridge': { take: processBridge, fields: ['request'], onlyRun },
  },
);
