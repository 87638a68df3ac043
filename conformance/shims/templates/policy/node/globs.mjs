// Match a path by a glob. Your own function replaces this file.

const TOKEN = /((?:^|(?<=\/))\*\*\/|\*\*|\*|\?)/;
const WILD = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
const patterns = new Map();

const escaped = (part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

// Return the regular expression of a glob. `**/` matches zero or more directories, and `P/**`
// also P.
function pattern(glob) {
  const body = glob.replace(/^[ \t]+|[ \t]+$/g, '').replace(/^\.\//, '');
  const parts = body.replace(/\/\*\*$/, '').split(TOKEN);
  const source = parts.map((part) => WILD[part] ?? escaped(part)).join('');
  return new RegExp(`^(?:${source}${body.endsWith('/**') ? '(?:/.*)?' : ''})$`, 'su');
}

export function matches(glob, path) {
  if (!patterns.has(glob)) patterns.set(glob, pattern(glob));
  return patterns.get(glob).test(path);
}
