// JSON in which no value changes. JSON.parse rounds large numbers, and accepts half of a surrogate
// pair in a string. Your own functions replace this file.
import { randomUUID } from 'node:crypto';

const TOKEN = /\\.|"|-?[0-9][-+.0-9eE]*/g;
// Begins a string that stands for a number which JSON.parse would round. No input has this text.
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** Put a string in the place of each number that JSON.parse would round. */
function marked(text) {
  let inString = false;
  return text.replace(TOKEN, (token) => {
    if (token === '"') inString = !inString;
    const stays = inString || !/^[-0-9]/.test(token) || String(Number(token)) === token;
    return stays ? token : `"${MARK}${token}"`;
  });
}

function wellFormed(name, value) {
  if (!name.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
    throw new SyntaxError('a string has half of a surrogate pair');
  }
  return value;
}

/** Return the value of a text. Only `number` and `stringify` can read its large numbers. */
export function parse(text) {
  JSON.parse(text); // refuses the text if it is not valid
  return JSON.parse(marked(text), wellFormed);
}

export function stringify(value) {
  return JSON.stringify(value).replace(MARKED, '$1');
}

export function number(value) {
  return Number(typeof value === 'string' ? value.slice(MARK.length) : value);
}
