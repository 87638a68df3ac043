// The sessions of a sandbox: probe, the environment, the calls. This file needs no change.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { report } from './claims.mjs';
import { Failed, refuseOthers } from './protocol.mjs';
import { run } from './running.mjs';

const CONTEXT = ['root', 'cwd', 'profile', 'egress'];
const REQUEST = ['program', 'args', 'current_dir', 'stdin', 'env', 'timeout_ms'];
const PASSED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TZ|LANG|LANGUAGE|LC_.*)$/s;

/** Return the operations of a sandbox. `command` returns the command line of a program in it. */
export function operations({ name, claims, command }) {
  function probe({ backend, profile, egress = [] }) {
    if (backend !== name) {
      throw new Failed('invalid_input', `there is no backend ${backend}`);
    }
    return report(claims, profile, egress, missing(command));
  }

  async function session({ backend, on_unavailable, context, calls: asked }) {
    refuseOthers(context, CONTEXT, 'backend.policy');
    const probed = probe({ ...context, backend });
    const [root, cwd] = places(context);
    const reasons = Object.values(probed.aspects).flatMap((each) => each.reasons ?? []);
    const log = [{ call: 'probe', ok: true }];
    const calls = [];
    const warnings = [];
    const result = { claims: probed, not_enforced: [], reasons, warnings, calls, log };
    if (probed.overall !== 'fully' && on_unavailable !== 'degrade') {
      const why = `the sandbox is ${probed.overall}`;
      return { ...result, session: 'refused', why, enforcement: 'none' };
    }
    const confine = probed.overall !== 'unavailable';
    const enforcement = confine ? probed.overall : 'none';
    if (!confine) warnings.push('the calls run WITHOUT a sandbox');
    const scratch = folder();
    try {
      for (const { request } of asked) {
        refuseOthers(request, REQUEST, 'exec.run');
        const place = resolve(root, request.current_dir ?? cwd);
        const words = [request.program, ...(request.args ?? [])];
        const line = confine ? command(words, root, scratch, place, context.profile) : words;
        const done = await run(request, line, place, environment(request, scratch));
        if (done.result) done.result.enforcement = enforcement;
        calls.push(done);
        log.push({ call: 'wrap', ok: true }, { call: 'run', ok: 'result' in done });
      }
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
    log.push({ call: 'shutdown', ok: true });
    return { ...result, session: 'opened', enforcement };
  }

  const onlyRun = () => true;
  const fields = ['backend', 'on_unavailable', 'context', 'calls'];
  return {
    'backend.probe': { take: probe, fields: ['backend', 'profile', 'egress'], onlyRun },
    'backend.run': { take: session, fields, onlyRun },
  };
}

const folder = () => realpathSync(mkdtempSync(join(tmpdir(), 'scratch-')));

/** Return why the sandbox runs no program here, or an empty string. */
function missing(command) {
  const place = folder();
  const [program, ...args] = command(['true'], place, place, place, 'repo-write');
  const done = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  rmSync(place, { recursive: true, force: true });
  if (done.error) return done.error.message;
  return done.status === 0 ? '' : `true did not run: ${done.stderr}`;
}

/** Return the real paths of the workspace and of the working directory. */
function places({ root, cwd = root }) {
  try {
    const [top, at] = [root, cwd].map((path) => realpathSync(resolve(root, path)));
    if (statSync(top).isDirectory() && `${at}/`.startsWith(`${top}/`)) return [top, at];
  } catch {
    // one of the two does not exist
  }
  throw new Failed('invalid_input', `${cwd} is no directory in the root ${root}`);
}

function environment({ env = 'inherit' }, scratch) {
  const inherited = Object.entries(process.env).filter(([name]) => PASSED.test(name));
  const given = env === 'inherit' ? inherited : env.clear_and_set;
  return { ...Object.fromEntries(given), TMPDIR: scratch };
}
