// A worker for Penstock in plain Node.js (18 or later), without dependencies. The protocol: docs/spec/worker.md.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** Throw it in a task to fail without another try. */
export class Fatal extends Error {}
// NUL and half characters: no database keeps them, and a call that has one is refused as a whole.
const kept = (text) => String(text).replace(/[\0\ud800-\udfff]/gu, "\ufffd");
const keepable = (value) => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(JSON.stringify(value) ?? "");
const refuses = (error) => [400, 413, 422].includes(error.status); // the call itself is wrong, now and later
const TOO_LARGE = { error: { kind: "too_large", message: "the output is larger than the server takes" }, retry: false };
/** What is told instead of a completion that the server does not take: the attempt must end all the same. */
const instead = ({ status, code, detail }) =>
  status === 413 ? TOO_LARGE : /^invalid_(port|output)$/.test(code)
    ? { error: { kind: "error", message: detail }, retry: code === "invalid_output" } : null;
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const backoff = (failures) => Math.min(5, 0.05 * 2 ** Math.min(failures, 7)) * (0.7 + 0.6 * Math.random());

/**
 * Do tasks until `stop` (an AbortSignal) is given, then end what runs and leave.
 * `tasks` maps names to functions `(params, ctx) => output`; `output` may be made with `out(...)`.
 * ctx: run, step, index, attempt, data, tags, input, events, idempotencyKey, signal, log(text, level), progress(value).
 */
export async function work({ server, token, tasks, taskLists = ["default"], concurrency = 10, grace = 30, name, stop }) {
  const worker = randomUUID(); // new at every start: a dead worker's leases are not revived
  const held = new Map(); // lease -> what is under way or not yet reported
  const outbox = []; // reports and lines, in order
  const wakes = new Set();
  const wake = () => { for (const each of [...wakes]) each(); };
  const woken = (seconds) => new Promise((resolve) => {
    const done = () => { clearTimeout(timer); wakes.delete(done); resolve(); };
    const timer = setTimeout(done, seconds * 1000);
    wakes.add(done);
  });
  let over = false; // the outbox is empty and nothing more comes
  stop?.addEventListener("abort", wake);
  async function ask(method, path, body, signal = AbortSignal.timeout(30000)) {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${server}/api/tasks/${path}`, { method, headers, body: JSON.stringify(body), signal });
    const value = await answer.json();
    if (answer.status >= 400) throw Object.assign(new Error(value.detail), { status: answer.status, code: value.code });
    return value;
  }
  const report = async (items) => (await ask("POST", "report", { worker, items })).items;
  const item = (job, said) => ({ id: job.given.id, lease: job.given.lease, ...said });

  function begin(given) {
    const { heartbeat, start_to_close, schedule_to_close } = given.timeouts, at = Date.now();
    const over = at + 1000 * Math.min(start_to_close ?? Infinity, schedule_to_close ?? Infinity);
    const job = { given, control: new AbortController(), ended: false, length: heartbeat * 1000, over };
    job.until = at + job.length;
    held.set(given.lease, job);
    run(job);
  }
  async function run(job) {
    const { given, control } = job, lines = (each) => outbox.push(item(job, { log: { lines: [each] } }));
    const ctx = {
      run: given.run, step: given.step, index: given.index, attempt: given.attempt, data: given.data, tags: given.tags,
      input: given.input, events: given.events, idempotencyKey: given.idempotency_key, signal: control.signal,
      log: (text, level = "info") => { lines({ text: kept(text), level, at: new Date().toISOString() }); wake(); },
      progress: (value) => {
        try { if (keepable(value)) job.progress = value; } catch { return; } // what is no JSON is left out
        wake();
      },
    };
    let said;
    try {
      if (!Object.hasOwn(tasks, given.task)) throw new Fatal(`no task '${given.task}' is offered here`);
      const output = await tasks[given.task](given.params ?? {}, ctx);
      said = { complete: output instanceof Out ? output.said : { output: output ?? null } };
      // What cannot be written fails here, not in a report of many.
      if (!keepable(said)) throw new Fatal("the output has a NUL or half a character, which no database keeps: leave it out");
    } catch (error) {
      const kind = error instanceof Fatal ? "fatal" : "error";
      said = { fail: { error: { kind, message: kept(String(error?.message ?? error).slice(0, 2000)) }, retry: kind === "error" } };
    }
    if (control.signal.aborted) return; // no longer wanted, or its lease is lost: not ours to tell
    job.ended = outbox.push(item(job, said)) > 0;
    wake();
  }
  function giveUp(job) {
    held.delete(job.given.lease);
    if (!job.ended) job.control.abort();
    wake();
  }
  async function claim() {
    const offers = Object.keys(tasks).map((each) => ({ name: each, ...tasks[each].offer }));
    const presence = { worker, name: name ?? `${hostname()}:${process.pid}`, offers, task_lists: taskLists, concurrency };
    for (let failures = 0, attended = 0; !stop?.aborted; ) {
      const room = concurrency - held.size;
      if (room <= 0) { await woken(1); continue; }
      try {
        if (Date.now() - attended > 10000) attended = (await ask("PUT", "offers", presence).catch(() => null)) ? Date.now() : 0;
        const wish = { worker, task_lists: taskLists, tasks: Object.keys(tasks), max: Math.min(room, 1000), wait: 10 };
        const polled = await ask("POST", "poll", wish);
        failures = 0;
        if (!stop?.aborted) polled.tasks.forEach(begin);
        else if (polled.tasks.length) await report(polled.tasks.map((given) => item({ given }, { release: {} })));
      } catch { await woken(backoff(failures++)); }
    }
  }
  async function renew() {
    for (let failures = 0; !over; ) {
      const at = Date.now(), jobs = [...held.values()];
      for (const job of jobs) if (job.over <= at || job.until <= at) giveUp(job);
      const living = jobs.filter((job) => held.has(job.given.lease));
      const due = living.some((job) => job.until - at <= (job.length * 2) / 3 || job.progress !== undefined);
      if (!due || failures) await woken(failures ? backoff(failures) : 0.05);
      if (!due) continue;
      const told = living.map((job) => job.progress);
      living.forEach((job) => { job.progress = undefined; });
      try {
        const answers = await report(living.map((job, n) => item(job, { heartbeat: { progress: told[n] ?? null } })));
        answers.forEach(({ status }, n) => (status === 200 ? (living[n].until = at + living[n].length) : giveUp(living[n])));
        failures = 0;
      } catch (error) {
        failures++; // progress that is refused is not said again: it would cost all leases
        if (!refuses(error)) living.forEach((job, n) => { job.progress ??= told[n]; });
      }
    }
  }

  function giveWay({ id, lease, complete, fail }, error) {
    const message = kept(`the server does not take what the task gave: ${error.message}`);
    if (complete) outbox.unshift({ id, lease, fail: { error: { kind: "error", message }, retry: false } });
    else if (fail) held.delete(lease); // of lines nothing hangs
  }
  async function send() {
    for (let failures = 0, most = 500; !over; ) {
      if (!outbox.length) { await woken(1); continue; }
      const items = outbox.slice(0, most);
      try {
        const told = await report(items); // a verdict that refuses one of them stops nothing
        outbox.splice(0, items.length);
        items.forEach((each, n) => {
          const fail = each.complete && instead(told[n]);
          if (fail) outbox.push({ id: each.id, lease: each.lease, fail });
          else if (each.complete || each.fail) held.delete(each.lease);
        });
        [failures, most] = [0, 500];
        wake();
      } catch (error) {
        const refused = error.status >= 400 && error.status < 500 && error.status !== 429;
        if (refused && most === 1) giveWay(outbox.shift(), error); // the server will never take it
        most = refused ? 1 : most; // one bad report must not hold up the others
        await sleep(backoff(failures++));
      }
    }
  }

  const chores = [renew(), send()];
  const claiming = claim();
  if (stop && !stop.aborted) await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  await ask("POST", "hangup", { worker }).catch(() => null); // an open poll is answered with what it has
  await claiming;
  for (const end = Date.now() + grace * 1000; held.size && Date.now() < end; ) await woken(Math.min(1, (end - Date.now()) / 1000));
  [...held.values()].filter((job) => !job.ended).forEach(giveUp);
  for (const end = Date.now() + 5000; outbox.length && Date.now() < end; ) await woken(0.05);
  over = true;
  wake();
  await Promise.all(chores);
  await ask("POST", "leave", { worker }).catch(() => null);
}

class Out { constructor(said) { this.said = said; } }
/** An answer with more than an output: `out(output, {port, tags, set, correlate})`. */
export const out = (output, more = {}) => new Out({ output: output ?? null, ...more });
