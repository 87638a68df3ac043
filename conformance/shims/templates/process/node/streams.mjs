// Read and write the streams of a program piece by piece. Your own functions replace this file.
import { createHash } from 'node:crypto';

const EVENTS = ['readable', 'end', 'close'];
const LARGEST = 1 << 16; // longer data are given by their digest only

/** Keep the output of a program until it is read, also after the end of the program. */
export function keep({ stdin, stdout, stderr }) {
  stdout?.on('readable', () => {});
  stderr?.on('readable', () => {});
  stdin?.on('error', () => {}); // the function `write` reports it
}

/** Return the next `count` bytes, or all that has arrived if there is no count; null at the end. */
async function piece(stream, count) {
  for (;;) {
    const found = stream.read(count);
    if (found !== null) return found;
    if (stream.readableEnded || stream.destroyed) return null;
    await new Promise((resolve) => {
      const wake = () => {
        for (const name of EVENTS) stream.off(name, wake);
        resolve();
      };
      for (const name of EVENTS) stream.on(name, wake);
    });
  }
}

export async function readUntil(stream, end) {
  let data = Buffer.alloc(0);
  for (;;) {
    const eof = !data.subarray(-end.length).equals(end);
    const byte = eof ? await piece(stream, 1) : null;
    if (byte === null) return { data_b64: data.toString('base64'), eof };
    data = Buffer.concat([data, byte]);
  }
}

export async function readToEnd(stream) {
  const pieces = [];
  for (let next; (next = await piece(stream)) !== null;) pieces.push(next);
  const data = Buffer.concat(pieces);
  const told = { bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') };
  return data.length <= LARGEST ? { ...told, data_b64: data.toString('base64') } : told;
}

/** Write all of the data. Node does not say how much arrived before an error. */
export function write(stream, data) {
  return new Promise((resolve) => {
    stream.write(data, (why) => {
      const broken = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'];
      if (!why) resolve({ written: data.length });
      else resolve({ written: 0, errno: broken.includes(why.code) ? 'EPIPE' : why.code });
    });
  });
}
