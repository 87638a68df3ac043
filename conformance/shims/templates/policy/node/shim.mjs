#!/usr/bin/env node
// A shim for boxspec, contract policy. Five places say FILL IN: name, capabilities, and how to
// match a glob, to resolve a profile and to check a path. Until then globs.mjs matches the rules
// and policies.mjs loads the files, so that `boxspec run` begins with a shim that conforms to
// profile contract. A failure is then about your code. protocol.mjs needs no change.
import * as globs from './globs.mjs';
import { loaded } from './policies.mjs';
import { Failed, main, refuseOthers, text } from './protocol.mjs';

// FILL IN: the name and version of your implementation.
const about = { name: 'my-implementation', version: '0.1', language: 'JavaScript' };
// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const capabilities = ['glob', 'policy', 'policy.json'];

// FILL IN: whether a glob matches a path.
function matches(glob, path) {
  return globs.matches(glob, path);
}

// FILL IN: the rules of a profile with the global denies, in the order in which they count. A rule
// with `!` denies. Exceptions in denyModify are not handled here.
function resolved({ profiles, denyRead, denyModify }, profile) {
  if (profile !== 'unrestricted' && !profiles.has(profile)) {
    throw new Failed('invalid_input', `there is no profile \`${profile}\``);
  }
  const { read = [], modify = [] } = profiles.get(profile) ?? { read: ['**'], modify: ['**'] };
  const denies = (rules) => rules.map((rule) => `!${rule}`);
  return { read: [...read, ...denies(denyRead)], modify: [...modify, ...denies(denyModify)] };
}

// FILL IN: decide by the last rule that matches; without a match the path is denied.
function check(rules, path) {
  for (const rule of [...rules].reverse()) {
    const body = rule.replace(/^!/, '');
    if (matches(body, path)) return { allowed: rule === body, path, matched_rule: body };
  }
  const positive = rules.some((rule) => !rule.startsWith('!'));
  return { allowed: false, path, matched_rule: positive ? '<no matching rule>' : '[]' };
}

/** Return the answer of an item, or its error. The other items have answers of their own. */
function attempt(item) {
  try {
    return item();
  } catch (why) {
    if (why instanceof Failed) return why.answer;
    throw why;
  }
}

function globMatch(message) {
  const glob = text(message, 'pattern');
  const name = 'paths' in message ? 'path' : 'path_b64';
  const paths = message.paths ?? message.paths_b64;
  const match = (path) => ({ match: matches(glob, text({ [name]: path }, 'path')) });
  return { items: paths.map((path) => attempt(() => match(path))) };
}

function policyResolve({ policy, profile = 'unrestricted' }) {
  const spec = loaded(policy);
  const profile_origin = spec.profiles.has(profile) ? 'defined' : 'synthesized';
  return { profile, profile_origin, ...resolved(spec, profile) };
}

function policyCheck({ policy, checks }) {
  const spec = loaded(policy);
  for (const each of checks) {
    refuseOthers(each, ['op', 'path', 'path_b64', 'profile'], 'policy.check');
  }
  const one = (each) =>
    check(resolved(spec, each.profile ?? 'unrestricted')[each.op], text(each, 'path'));
  return { checks: checks.map((each) => attempt(() => one(each))) };
}

const onlyRun = () => false;
const paths = ['pattern', 'pattern_b64', 'paths', 'paths_b64'];
await main(
  { implementation: about, capabilities },
  {
    'glob.match': { take: globMatch, fields: paths, onlyRun },
    'policy.resolve': { take: policyResolve, fields: ['policy', 'profile'], onlyRun },
    'policy.check': { take: policyCheck, fields: ['policy', 'checks'], onlyRun },
  },
);
