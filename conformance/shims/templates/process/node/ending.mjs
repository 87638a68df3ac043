// Wait for the end of programs, and release them. Your own functions replace this file.
// Node itself reports a death by a real-time signal as exit code 0: PROCESS-WAIT-01 fails.

const LONGEST_MS = 2 ** 31 - 1; // setTimeout would call at once after a longer time

/** Wait until a program ends, at most for `limitMs`. Return its end, or that it is running. */
export async function endOf(child, limitMs) {
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  if (isRunning()) {
    await new Promise((resolve) => {
      let timer;
      const wake = () => {
        clearTimeout(timer);
        child.off('exit', wake);
        resolve();
      };
      child.on('exit', wake);
      if (limitMs !== undefined) timer = setTimeout(wake, Math.min(limitMs, LONGEST_MS));
    });
  }
  if (isRunning()) return { running: true };
  return child.signalCode !== null ? { signaled: child.signalCode } : { exited: child.exitCode };
}

/** Kill the group of a program, which may outlive its leader, and close the program's streams. */
export function release({ pid, stdio }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (why) {
    if (why.code !== 'ESRCH') throw why;
  }
  for (const stream of stdio) stream?.destroy();
}
