// Shows how a ChildProcess behaves, without the kit: tries.mjs ID...; one line for each.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

// If a library waits this long, it waits for a process that the try holds. When the try releases
// that process, the end of the wait proves the cause.
const LONG_MS = 3000;
const HOLDER = 'read x <"$0" & echo $!; ';

function isAlive(pid) {
  try {
    return !/\) [ZX] /.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Start a group of two; return the child and the pid of the second, which waits at a fifo. */
async function started(line) {
  const child = spawn('/bin/sh', ['-c', line, 'gate'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const [data] = await once(child.stdout, 'data');
  return [child, Number(data), exit];
}

async function take() {
  const child = spawn('/bin/true', { stdio: ['ignore', 'pipe', 'inherit'] });
  const taken = child.stdout;
  await once(child, 'exit');
  return [child.stdout === taken, 'stdout is still there when it was taken'];
}

async function eof() {
  const child = spawn('/bin/echo', ['kept'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'close');
  let got = '';
  for await (const piece of child.stdout) got += piece;
  return [got === '', `read behind the end: ${JSON.stringify(got)}`];
}

async function wait() {
  const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'inherit'] });
  const exit = once(child, 'exit');
  let timer;
  const late = new Promise((over) => (timer = setTimeout(over, LONG_MS, 'late')));
  const first = await Promise.race([exit, late]);
  clearTimeout(timer);
  child.stdin.end();
  const [code] = await exit;
  return [first === 'late', `cat goes on for ${LONG_MS} ms, and ends with ${code} at end()`];
}

async function kill() {
  const [child, member, exit] = await started(`${HOLDER}wait`);
  child.kill();
  const [, signal] = await exit;
  return [isAlive(member), `kill() ended the child by ${signal}, the member lives on`];
}

async function group() {
  const [, member, exit] = await started(`${HOLDER}exit 0`);
  await exit;
  return [isAlive(member), 'the leader has ended, the member lives on'];
}

/** A caller that ends without ending its child. */
async function drop() {
  const line = `const { spawn } = require('node:child_process');
    const options = { detached: true, stdio: 'ignore' };
    const child = spawn('/bin/sh', ['-c', 'read x <"$0"', 'gate'], options);
    child.unref();
    console.log(child.pid);`;
  const pid = Number(spawnSync(process.execPath, ['-e', line]).stdout);
  return [isAlive(pid), 'it lives on when its caller has ended'];
}

const TRIES = {
  'PROCESS-TAKE-01': take,
  'PROCESS-EOF-02': eof,
  'PROCESS-WAIT-04': wait,
  'PROCESS-KILL-02': kill,
  'PROCESS-GROUP-01': group,
  'PROCESS-DROP-01': drop,
};

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tries-'));
process.chdir(folder);
spawnSync('mkfifo', ['gate']);
const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : Object.keys(TRIES)) {
  if (TRIES[name] === undefined) {
    console.log(`${name} not tried: nothing here tries it`);
    continue;
  }
  const [seen, what] = await TRIES[name]();
  console.log(`${name} ${seen ? 'seen' : 'not seen'}: ${what}`);
}
// Release each process that still waits at the fifo.
fs.closeSync(fs.openSync('gate', fs.constants.O_RDWR));
fs.rmSync(folder, { recursive: true });
