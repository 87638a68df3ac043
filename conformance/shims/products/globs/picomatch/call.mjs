// Calls only picomatch, for ../tries.py.
import picomatch from 'picomatch';

const [pattern, path] = process.argv.slice(2);
const off = { nobrace: true, nobracket: true, noextglob: true, nonegate: true };
console.log(picomatch.isMatch(path, pattern, { dot: true, literalBrackets: true, ...off }));
