// The tasks of the worker rules, for the worker in Node.js.
import { existsSync, writeFileSync } from "node:fs";
import { Fatal, work } from "../../clients/node/penstock-worker.mjs";

const touch = (path) => writeFileSync(path, "");
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
const there = async (path, signal) => { while (!existsSync(path) && !signal.aborted) await pause(); };

const tasks = {
  echo: ({ value }) => value,
  fail: ({ message }) => { throw new Error(message); },
  fail_for_good: ({ message }) => { throw new Fatal(message); },
  hold: async ({ begun, go }, ctx) => { touch(begun); await there(go, ctx.signal); return "held"; },
  until_canceled: async ({ begun, seen }, ctx) => {
    touch(begun);
    while (!ctx.signal.aborted) await pause();
    touch(seen);
  },
  tell: async ({ lines, progress, go }, ctx) => {
    lines.forEach((line) => ctx.log(line));
    ctx.progress(progress);
    await there(go, ctx.signal);
    return "told";
  },
};

const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
await work({
  server: process.env.PENSTOCK_SERVER,
  token: process.env.PENSTOCK_TOKEN,
  tasks,
  concurrency: Number(process.env.CONCURRENCY ?? 10),
  grace: Number(process.env.GRACE ?? 30),
  name: "rules",
  stop: stop.signal,
});
