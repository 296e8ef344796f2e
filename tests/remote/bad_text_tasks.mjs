// Tasks that say what no database keeps, for the worker in Node.js.
import { work } from "../../clients/node/penstock-worker.mjs";

const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
await work({
  server: process.env.PENSTOCK_SERVER,
  tasks: {
    output: () => "a\0b",
    deep: () => { let value = 1; for (let n = 0; n < 100; n++) value = [value]; return value; }, // the server refuses it
    promise: () => ({ rows: "many" }), // it offers a number
    error: () => { throw new Error("half \ud800"); },
    say: async (params, ctx) => {
      ctx.log("a\0b");
      ctx.progress("a\0b");
      await new Promise((resolve) => setTimeout(resolve, 200));
      return "\\u0000";
    },
  },
  stop: stop.signal,
});
