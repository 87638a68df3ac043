// The claims of a sandbox for a profile and a list of destinations. This file needs no change.
import { isIPv6 } from 'node:net';
import { Failed } from './protocol.mjs';

const ASPECTS = ['fs-write', 'fs-metadata', 'process'];
const REQUESTED = {
  'read-only': ASPECTS,
  'repo-write': ASPECTS,
  'full-dev': ASPECTS,
  'no-network': [...ASPECTS, 'network'],
  'ci-only': [...ASPECTS, 'network', 'ipc'],
};

/** Return true for host:port, [address]:port and *. */
function isDestination(text) {
  const found = /^(?:\[(.*)\]|[A-Za-z0-9._-]+):([0-9]{1,5})$/.exec(text);
  if (found === null) return text === '*';
  const [, address, port] = found;
  return port >= 1 && port <= 65535 && (address === undefined || isIPv6(address));
}

function claimOf(claim, isRequested, whyNot) {
  if (whyNot) return { claim: 'unavailable', reasons: [whyNot] };
  if (claim === 'fully') return { claim };
  return isRequested ? { claim: 'unavailable', reasons: [claim] } : { claim: 'not-requested' };
}

/**
 * Return the answer of backend.probe.
 *
 * egress: the destinations that programs may reach; an empty list for no limit.
 * whyNot: the reason why the sandbox runs no program here, or an empty string.
 */
export function report(claims, profile, egress, whyNot) {
  const requested = new Set(REQUESTED[profile]);
  if (!egress.every(isDestination)) {
    throw new Failed('invalid_input', 'egress: not host:port, [address]:port or *');
  }
  const told = { ...claims };
  if (egress.length > 0) {
    if (requested.has('network')) {
      throw new Failed('invalid_input', 'egress contradicts the profile');
    }
    requested.add('network');
    told.network = 'this sandbox has no list of destinations';
  }
  const none = { claim: 'not-requested' };
  const aspects = { 'fs-read': none, limits: none };
  for (const [name, claim] of Object.entries(told)) {
    aspects[name] = claimOf(claim, requested.has(name), whyNot);
  }
  const found = new Set([...requested].map((name) => aspects[name].claim));
  const overall = found.size === 1 ? [...found][0] : 'partial';
  return { overall, aspects, not_enforced: [] };
}
