#!/usr/bin/env node
// A shim around Node's child_process: a managed runtime with an API of strings.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import readline from "node:readline";

const GRACE_MS = 5000;
const LINGER_MS = 1000;
const FIELDS = ["program", "args", "current_dir", "timeout_ms", "stdin", "env"];
const CAPABILITY = { max_output_bytes: "exec.cap", stdin_failure: "exec.stdin_failure" };

class Unsupported extends Error {}

/** Return a field or its base64 counterpart, which must be UTF-8. */
function take(holder, name) {
  const decode = (word) => {
    if (Array.isArray(word)) return word.map(decode);
    const bytes = Buffer.from(word, "base64");
    if (!Buffer.from(bytes.toString()).equals(bytes)) throw new Unsupported("exec.bytes");
    return bytes.toString();
  };
  return `${name}_b64` in holder ? decode(holder[`${name}_b64`]) : holder[name];
}

/** Return the text of a stream, or its digest if it has more than 1 MiB. */
function stream(pieces) {
  const text = Buffer.from(Buffer.concat(pieces).toString());
  if (text.length <= 1 << 20) return text.toString();
  return {
    bytes: text.length,
    sha256: createHash("sha256").update(text).digest("hex"),
    head_b64: text.subarray(0, 4096).toString("base64"),
    tail_b64: text.subarray(-4096).toString("base64"),
  };
}

function check(message) {
  const request = message.request ?? {};
  if (message.op !== "exec.run") throw new Unsupported(message.op);
  if ("sandbox" in message) throw new Unsupported("exec.sandbox");
  if (request.debug) throw new Unsupported("exec.debug");
  if (request.stdin_failure === "error") delete request.stdin_failure;
  delete request.debug;
  for (const name of Object.keys(request)) {
    const field = name.replace(/_b64$/, "");
    if (!FIELDS.includes(field)) throw new Unsupported(CAPABILITY[field] ?? field);
  }
  return request;
}

function run(request, done) {
  const began = process.hrtime.bigint();
  const { stdin = "inherit", env = "inherit", timeout_ms: limit } = request;
  const payload = typeof stdin === "object" ? take(stdin, "bytes") : null;
  const failed = (why) => {
    done({ error: { kind: "execution", message: `failed to spawn: ${why}` } });
  };
  let child;
  try {
    child = spawn(take(request, "program"), take(request, "args") ?? [], {
      cwd: take(request, "current_dir"),
      env: env === "inherit" ? process.env : Object.fromEntries(take(env, "clear_and_set")),
      detached: true,
      stdio: [payload === null ? (stdin === "null" ? "ignore" : "inherit") : "pipe", "pipe", "pipe"],
    });
  } catch (why) {
    if (why instanceof Unsupported) throw why;
    return failed(why.message);
  }
  child.on("error", (why) => failed(why.message));
  if (child.pid === undefined) return;
  const kept = { stdout: [], stderr: [] };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (piece) => kept[name].push(piece));
  child.stdin?.on("error", () => {});
  child.stdin?.end(payload);
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {}
  };
  let late = false;
  const timers = [];
  if (limit !== undefined) {
    const ms = Math.min(limit, 2 ** 31 - 1);
    timers.push(setTimeout(() => {
      late = true;
      signal("SIGTERM");
      timers.push(setTimeout(signal, GRACE_MS, "SIGKILL"));
    }, ms));
  }
  let answered = false;
  const answer = (code) => {
    if (answered) return;
    answered = true;
    timers.forEach(clearTimeout);
    const note = late ? `${kept.stderr.length > 0 ? "\n" : ""}process timed out` : "";
    done({
      result: {
        success: code === 0 && !late,
        stdout: stream(kept.stdout),
        stderr: stream([...kept.stderr, Buffer.from(note)]),
        exit_code: late ? null : code,
        duration_ms: Number((process.hrtime.bigint() - began) / 1_000_000n),
        output: null,
      },
    });
  };
  child.on("exit", (code) => {
    // As the timeout of spawn() does: a process that holds the output does not make an exit late.
    timers.forEach(clearTimeout);
    signal("SIGKILL");
    timers.push(setTimeout(answer, LINGER_MS, code));
  });
  child.on("close", answer);
}

function hello(message) {
  return {
    result: {
      protocol: 1,
      nonce: message.nonce,
      pid: process.pid,
      implementation: { name: "node-child-process", version: process.version },
      spec_version: "1.0",
      capabilities: ["exec"],
      limits: { max_line_bytes: 1 << 24 },
      constants: { grace_ms: GRACE_MS, tick_ms: 100 },
      backends: {},
    },
  };
}

function answer(message, serving, done) {
  if (message.op === "hello") return done(hello(message));
  if (message.op === "bye") return done({ result: {} });
  try {
    const request = check(message);
    if (serving) return done({ error: { kind: "invalid_input", message: "not under serve" } });
    run(request, done);
  } catch (why) {
    if (!(why instanceof Unsupported)) throw why;
    done({ unsupported: { capability: why.message, why: "not in this shim" } });
  }
}

const [mode, request, response] = process.argv.slice(2);
if (mode === "run") {
  const message = JSON.parse(fs.readFileSync(request));
  answer(message, false, (told) => {
    fs.writeFileSync(`${response}.new`, JSON.stringify({ id: message.id, ...told }));
    fs.renameSync(`${response}.new`, response);
    if (message.hold) fs.readFileSync(message.hold);
    process.exit(0);
  });
} else {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    answer(message, true, (told) => {
      process.stdout.write(`${JSON.stringify({ id: message.id, ...told })}\n`);
    });
    if (message.op === "bye") break;
  }
  process.exit(0);
}
