// Calls only execa(), for ../tries.
import { execa } from 'execa';

const asked = JSON.parse(process.argv[2]);
const options = {
  reject: false,
  stripFinalNewline: false,
  detached: true,
  forceKillAfterDelay: 5000,
  ...('env' in asked ? { env: Object.fromEntries(asked.env), extendEnv: false } : {}),
  ...('cwd' in asked ? { cwd: asked.cwd } : {}),
  ...('timeout_ms' in asked ? { timeout: asked.timeout_ms } : {}),
  ...('cap' in asked ? { maxBuffer: asked.cap, encoding: 'buffer' } : {}),
  ...('input' in asked ? { input: asked.input } : { stdin: 'inherit' }),
};
try {
  const done = await execa(asked.argv[0], asked.argv.slice(1), options);
  const [out, err] = [done.stdout, done.stderr].map((each) => Buffer.from(each ?? '').toString());
  const spawned = !done.failed || done.exitCode !== undefined || done.signal !== undefined;
  const told = { code: done.exitCode ?? null, out, err, late: done.timedOut, cut: done.isMaxBuffer };
  const known = spawned || done.timedOut || done.isMaxBuffer;
  console.log(JSON.stringify(known ? told : { error: done.shortMessage }));
} catch (why) {
  console.log(JSON.stringify({ error: why.message }));
}
