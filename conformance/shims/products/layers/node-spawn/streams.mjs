// A stream of Node, read and written piece by piece.
import { createHash } from 'node:crypto';
import { once } from 'node:events';

const SHORT = 65536;

/** The next piece of a stream, at most `most` bytes; null at its end. */
async function piece(stream, most) {
  for (;;) {
    const found = stream.read(Math.min(most, stream.readableLength) || undefined);
    if (found !== null) return found;
    if (stream.readableEnded || stream.destroyed) return null;
    const over = new AbortController();
    const events = ['readable', 'end', 'close'].map((name) => once(stream, name, over));
    await Promise.race(events).finally(() => {
      over.abort();
      events.forEach((each) => each.catch(() => {}));
    });
  }
}

export async function readUntil(stream, until) {
  let data = Buffer.alloc(0);
  while (!data.subarray(-until.length).equals(until)) {
    const byte = await piece(stream, 1);
    if (byte === null) return { data_b64: data.toString('base64'), eof: true };
    data = Buffer.concat([data, byte]);
  }
  return { data_b64: data.toString('base64'), eof: false };
}

export async function readEof(stream) {
  const digest = createHash('sha256');
  const kept = [];
  let bytes = 0;
  for (let data; (data = await piece(stream, SHORT)) !== null; ) {
    digest.update(data);
    bytes += data.length;
    if (bytes <= SHORT) kept.push(data);
  }
  const told = { bytes, sha256: digest.digest('hex') };
  return bytes <= SHORT ? { ...told, data_b64: Buffer.concat(kept).toString('base64') } : told;
}

export const write = (stream, data) =>
  new Promise((done) => {
    stream.write(data, (why) => done(why ? { written: 0, errno: why.code } : { written: data.length }));
  });
