// Run one program to its end, within a time limit. Your own function replaces this file.
import { spawn } from 'node:child_process';

const GRACE_MS = 5000;
const LONGEST_MS = 2 ** 31 - 1; // setTimeout would call at once after a longer time
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Send a signal to the process group of the child. The group may outlive its leader. */
function kill(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (why) {
    if (why.code !== 'ESRCH') throw why;
  }
}

/**
 * Run a program in a process group of its own. At the end of the limit, and after a signal to this
 * process, the group gets SIGTERM, and SIGKILL after the grace.
 *
 * Return the exit code (-1 after a signal), the bytes of stdout and stderr, and in `ended` the
 * reason of an early end: `Timeout` or the name of the signal. Fail if the program does not start.
 */
export function run(program, input, timeoutMs, options) {
  return new Promise((resolve, reject) => {
    const output = { stdout: [], stderr: [] };
    let child, ended, grace;
    const end = (why) => {
      if (ended !== undefined) return;
      ended = why;
      kill(child, 'SIGTERM');
      grace = setTimeout(kill, GRACE_MS, child, 'SIGKILL');
    };
    for (const name of SIGNALS) process.on(name, end); // before the program can run
    child = spawn(program, [], { ...options, detached: true });
    const limit = setTimeout(end, Math.min(timeoutMs, LONGEST_MS), 'Timeout');
    const clear = () => {
      clearTimeout(limit);
      clearTimeout(grace);
      for (const name of SIGNALS) process.off(name, end);
    };
    child.on('error', (why) => {
      clear();
      reject(why);
    });
    child.on('exit', () => kill(child, 'SIGKILL'));
    child.on('close', (code) => {
      clear();
      const [out, err] = [output.stdout, output.stderr].map((each) => Buffer.concat(each));
      resolve({ code: code ?? -1, out, err, ended });
    });
    for (const name of ['stdout', 'stderr']) {
      child[name].on('data', (piece) => output[name].push(piece));
    }
    child.stdin.on('error', () => {}); // the program may end before it has read its input
    child.stdin.end(input);
  });
}
