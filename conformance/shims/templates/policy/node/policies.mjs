// Load a policy file in JSON, with the file of a workspace merged over it.
import { Failed, refuseOthers, text, Unsupported } from './protocol.mjs';

const FILE = ['format', 'text', 'text_b64'];

/** Return the `spec` of a policy. It fails if a required part is missing. */
export function loaded(source) {
  const { format, workspace } = source;
  refuseOthers(source, [...FILE, 'workspace'], 'policy');
  if (format !== 'json') throw new Unsupported('policy.yaml');
  const spec = specOf(source);
  if (workspace === undefined) return spec;
  refuseOthers(workspace, FILE, 'policy');
  return merged(spec, specOf(workspace));
}

function specOf(source) {
  const file = text(source, 'text');
  try {
    const { schemaVersion, kind, metadata, spec } = JSON.parse(file);
    if (schemaVersion !== 2 || kind !== 'Policy' || typeof metadata.name !== 'string') {
      throw new TypeError('it is no Policy of version 2 with a name');
    }
    const profiles = new Map(Object.entries(spec.fsProfiles ?? {}));
    for (const [name, rules] of profiles) requireCovers(name, rules);
    return { denyRead: spec.denyRead ?? [], denyModify: spec.denyModify ?? [], profiles };
  } catch (why) {
    throw new Failed('invalid_input', `the policy does not load: ${why.message}`);
  }
}

function requireCovers(profile, { read = [], modify = [] }) {
  for (const rule of modify) {
    if (!rule.startsWith('!') && !read.some((each) => covers(each, rule))) {
      throw new TypeError(`profile ${profile}: no read rule covers the modify rule ${rule}`);
    }
  }
}

/** Return whether a read rule covers a modify rule. A rule with `!` covers none. */
function covers(read, modify) {
  if (read.startsWith('!')) return false;
  const above = read.replace(/\/\*\*$/, '');
  const below = above !== read && (modify === above || modify.startsWith(`${above}/`));
  return below || [modify, '**', './**'].includes(read);
}

/**
 * Merge the `spec` of a workspace over the global one. A profile of the workspace replaces the
 * global one of its name. Its denies come last.
 */
function merged(above, below) {
  return {
    denyRead: [...above.denyRead, ...below.denyRead],
    denyModify: [...above.denyModify, ...below.denyModify],
    profiles: new Map([...above.profiles, ...below.profiles]),
  };
}
