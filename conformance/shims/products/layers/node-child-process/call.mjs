// Calls only spawn() of child_process, for ../tries.
import { spawn } from 'node:child_process';

const asked = JSON.parse(process.argv[2]);
const told = { code: null, out: '', err: '' };
try {
  const child = spawn(asked.argv[0], asked.argv.slice(1), {
    env: asked.env === undefined ? process.env : Object.fromEntries(asked.env),
    cwd: asked.cwd,
    timeout: asked.timeout_ms,
    detached: true,
    stdio: [asked.input === undefined ? 'inherit' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(asked.input);
  child.stdout?.on('data', (piece) => (told.out += piece));
  child.stderr?.on('data', (piece) => (told.err += piece));
  child.on('error', (why) => {
    told.error = why.message;
    if (child.pid === undefined) console.log(JSON.stringify(told));
  });
  child.on('close', (code, signal) => {
    if (child.pid === undefined) return;
    console.log(JSON.stringify({ ...told, code, signal, late: child.killed }));
  });
} catch (why) {
  console.log(JSON.stringify({ error: why.message }));
}
