// picomatch: one matcher a pattern, for paths as they are.
import { createRequire } from 'node:module';
import picomatch from 'picomatch';
import { main, take, Unsupported } from './wire.mjs';

const { version } = createRequire(import.meta.url)('picomatch/package.json');

// `dot` includes names that begin with a dot; the other options turn off syntax that the contract's
// globs do not have.
const options = {
  dot: true,
  literalBrackets: true,
  nobrace: true,
  nobracket: true,
  noextglob: true,
  nonegate: true,
};

function match(message) {
  if ((message.case ?? 'sensitive') !== 'sensitive') throw new Unsupported('policy.fold');
  const paths = take(message, 'paths', 'glob.match');
  const pattern = take(message, 'pattern', 'glob.match');
  try {
    const matches = picomatch(pattern, options);
    return { result: { items: paths.map((path) => ({ match: matches(path) })) } };
  } catch (why) {
    return { error: { kind: 'invalid_input', message: why.message } };
  }
}

await main({
  about: { name: 'picomatch', version, language: 'JavaScript' },
  capabilities: ['glob'],
  operations: { 'glob.match': match },
});
