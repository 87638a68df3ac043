// process.script over child_process. A thread of a script is a chain of promises: the runtime has one
// thread for all of them.
import { Unsupported } from '../../wire.mjs';
import { ended, failed, FIELDS, MODES, open, refused, STREAMS, wait } from './child.mjs';
import { readEof, readUntil, write } from './streams.mjs';

export class Script {
  constructor({ handles, steps }) {
    Object.assign(this, { handles, steps, children: new Map(), threads: new Map() });
  }

  async run() {
    const told = this.steps.map(() => ({}));
    for (const [i, step] of this.steps.entries()) {
      const before = this.threads.get(step.thread) ?? Promise.resolve();
      const act = async () => Object.assign(told[i], await this.take(step));
      if (step.step === 'join') await before;
      else if (step.thread) this.threads.set(step.thread, before.then(act));
      else await act();
    }
    await Promise.all(this.threads.values());
    return { result: { steps: told } };
  }

  async take(step) {
    try {
      return await this.act(step);
    } catch (why) {
      return why instanceof Unsupported ? refused(why.message) : failed('execution', why.message);
    }
  }

  async repeat({ count, steps }) {
    let last = [];
    for (let repeated = 0; repeated < count; repeated++) {
      last = [];
      for (const each of steps) {
        last.push(await this.take(each));
        if ('error' in last.at(-1)) return { repeated, last };
      }
    }
    return { repeated: count, last };
  }

  async act(step) {
    const { step: kind, handle: name, stream = 'stdin' } = step;
    if (kind === 'repeat') return this.repeat(step);
    if (kind === 'open') return this.open(name);
    const child = this.children.get(name);
    if (child === undefined) return refused('the handle is not open');
    const data = (field) => Buffer.from(step[field] ?? atob(step[`${field}_b64`]), field in step ? 'utf8' : 'latin1');
    switch (kind) {
      case 'streams':
        return Object.fromEntries(STREAMS.map((each) => [each, child[each] !== null]));
      case 'take': // an attribute, which stays
        return { taken: child[stream] !== null };
      case 'write':
        return write(child.stdin, data('data'));
      case 'read_until':
        return readUntil(child[stream], data('until'));
      case 'read_eof':
        return readEof(child[stream]);
      case 'close_stdin':
        child.stdin.end();
        return {};
      case 'poll':
        return ended(child);
      case 'wait':
        return wait(child, step.timeout_ms);
      case 'terminate':
      case 'kill':
        child.kill(kind === 'kill' ? 'SIGKILL' : 'SIGTERM');
        return {};
      case 'drop': // the last name of it goes, and that is all
        this.children.delete(name);
        return {};
    }
    return refused('a ChildProcess has nothing that ends it in order');
  }

  async open(name) {
    if (this.children.has(name)) return refused('the handle is open; drop it first');
    const { request, nonblocking, ...modes } = this.handles[name];
    const odd = Object.keys(request).filter((each) => !FIELDS.includes(each.replace(/_b64$/, '')));
    const stdio = STREAMS.map((each) => modes[each] ?? 1);
    if (odd.length > 0 || nonblocking || stdio.some((mode) => !(mode in MODES))) {
      return refused(`no option of spawn: ${[...odd, ...stdio].join(', ')}`);
    }
    try {
      this.children.set(name, await open(request, stdio));
    } catch (why) {
      return failed('execution', `failed to spawn: ${why.message}`);
    }
    return { pid: this.children.get(name).pid };
  }
}
