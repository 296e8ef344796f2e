// A worker for Penstock in plain Node.js (18 or later), without dependencies. The protocol: docs/spec/worker.md.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Throw it in a task to fail without another try. */
export class Fatal extends Error {}
class Out { constructor(said) { this.said = said; } }
/** An answer with more than an output: `out(output, {port, tags, set, correlate})`. */
export const out = (output, more = {}) => new Out({ output: output ?? null, ...more });

// NUL and half characters: no database keeps them, and a call that has one is refused as a whole.
const kept = (text) => String(text).replace(/[\0\ud800-\udfff]/gu, "\ufffd");
const keepable = (value) => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(JSON.stringify(value) ?? "");
const failure = (kind, message, retry = false) => ({ fail: { error: { kind, message }, retry } });
/** What is told instead of a completion that the server does not take: the attempt must end all the same. */
const instead = ({ status, code, detail }) =>
  status === 413 ? failure("too_large", "the output is larger than the server takes")
  : code === "invalid_port" && failure("error", detail);
const backoff = (failures) => Math.min(5, 0.05 * 2 ** Math.min(failures, 7)) * (0.7 + 0.6 * Math.random());

/** Do tasks until `stop` (an AbortSignal) is given, then end what runs and leave.
 * `tasks` maps names to functions `(params, ctx) => output`; `output` may be made with `out(...)`.
 * ctx: run, step, index, attempt, data, tags, input, events, idempotencyKey, signal, log(text, level), progress(value). */
export async function work({ server, token, tasks, taskLists = ["default"], concurrency = 10, grace = 30, name, stop }) {
  const worker = randomUUID(); // new at every start: a dead worker's leases are not revived
  const held = new Map(); // lease -> what is under way or not yet reported
  const outbox = []; // reports and lines, in order
  let over = false, bell = new AbortController(); // over: the outbox is empty and nothing more comes
  const wake = () => { const rung = bell; bell = new AbortController(); rung.abort(); };
  const woken = (seconds) => sleep(seconds * 1000, null, { signal: bell.signal }).catch(() => null);
  async function ask(method, path, body, signal = AbortSignal.timeout(30000)) {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${server}/api/tasks/${path}`, { method, headers, body: JSON.stringify(body), signal });
    const value = await answer.json();
    if (answer.status >= 400) throw Object.assign(new Error(value.detail), { status: answer.status, code: value.code });
    return value;
  }
  const report = async (items) => (await ask("POST", "report", { worker, items })).items;
  const item = ({ given: { id, lease } }, said) => ({ id, lease, ...said });
  const say = (job, said) => { outbox.push(item(job, said)); wake(); };
  async function outcome(job) {
    const { lease, params, idempotency_key: idempotencyKey, ...rest } = job.given;
    const log = (text, level = "info") =>
      say(job, { log: { lines: [{ text: kept(text), level, at: new Date().toISOString() }] } });
    const progress = (value) => {
      try { if (keepable(value)) { job.progress = value; wake(); } } catch { /* what is no JSON is left out */ }
    };
    try {
      if (!Object.hasOwn(tasks, rest.task)) throw new Fatal(`no task '${rest.task}' is offered here`);
      const ctx = { ...rest, idempotencyKey, signal: job.control.signal, log, progress };
      const output = await tasks[rest.task](params ?? {}, ctx);
      const said = { complete: output instanceof Out ? output.said : { output: output ?? null } };
      if (keepable(said)) return said; // what cannot be written fails here, not in a report of many
      throw new Fatal("the output has a NUL or half a character, which no database keeps: leave it out");
    } catch (error) {
      const fatal = error instanceof Fatal;
      return failure(fatal ? "fatal" : "error", kept(String(error?.message ?? error).slice(0, 2000)), !fatal);
    }
  }
  async function begin(given) {
    const { heartbeat, start_to_close, schedule_to_close } = given.timeouts, at = Date.now(), length = heartbeat * 1000;
    const end = at + 1000 * Math.min(start_to_close ?? Infinity, schedule_to_close ?? Infinity);
    const job = { given, control: new AbortController(), ended: false, length, end, until: at + length };
    held.set(given.lease, job);
    const said = await outcome(job);
    if (job.control.signal.aborted) return; // no longer wanted, or its lease is lost: not ours to tell
    say(Object.assign(job, { ended: true }), said);
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
      const at = Date.now();
      for (const job of [...held.values()]) if (job.end <= at || job.until <= at) giveUp(job);
      const living = [...held.values()];
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
        failures++; // progress that is refused, now and later, is not said again: it would cost all leases
        if (![400, 413, 422].includes(error.status)) living.forEach((job, n) => { job.progress ??= told[n]; });
      }
    }
  }
  async function send() {
    for (let failures = 0, most = 500; !over; ) {
      if (!outbox.length) { await woken(1); continue; }
      const items = outbox.slice(0, most);
      try {
        const told = await report(items); // a verdict that refuses one of them stops nothing
        outbox.splice(0, items.length);
        items.forEach(({ id, lease, complete, fail }, n) => {
          const end = complete && instead(told[n]);
          if (end) outbox.push({ id, lease, ...end });
          else if (complete || fail) held.delete(lease);
        });
        [failures, most] = [0, 500];
        wake();
      } catch (error) {
        const refused = error.status >= 400 && error.status < 500 && error.status !== 429;
        if (refused && most === 1) { // the server will never take it; of lines nothing hangs
          const { id, lease, complete, fail } = outbox.shift(), why = `the server does not take what the task gave: ${error.message}`;
          if (complete) outbox.unshift({ id, lease, ...failure("error", kept(why)) });
          else if (fail) held.delete(lease);
        }
        most = refused ? 1 : most; // one bad report must not hold up the others
        await sleep(1000 * backoff(failures++));
      }
    }
  }

  const hangUp = () => { wake(); ask("POST", "hangup", { worker }).catch(() => null); }; // a poll is answered with what it has
  stop?.addEventListener("abort", hangUp);
  const chores = [renew(), send()];
  await claim();
  for (const end = Date.now() + grace * 1000; held.size && Date.now() < end; ) await woken(Math.min(1, (end - Date.now()) / 1000));
  [...held.values()].filter((job) => !job.ended).forEach(giveUp);
  for (const end = Date.now() + 5000; outbox.length && Date.now() < end; ) await woken(0.05);
  over = true;
  wake();
  await Promise.all(chores);
  await ask("POST", "leave", { worker }).catch(() => null);
}
