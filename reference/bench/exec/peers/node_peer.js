// Answers each line N on stdin with the nanoseconds of N runs of /bin/true.
'use strict';
const { execFile } = require('node:child_process');
const readline = require('node:readline');

function once() {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    execFile('/bin/true', (error) => {
      if (error) reject(error);
      else resolve(process.hrtime.bigint() - start);
    });
  });
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const times = [];
    for (let i = 0; i < Number(line); i++) times.push(await once());
    process.stdout.write(`${times.join(' ')}\n`);
  }
}

main();
