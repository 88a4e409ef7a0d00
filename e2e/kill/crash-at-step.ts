/**
 * Preloaded into a server (`node --import`), which runs as it is: ends it by SIGKILL at an exact step, so that nothing in
 * it can clean up. SIGUSR2 arms it with what stands in the file of CRASH_AT_FILE: "after:deliveries.claim:2" means after the
 * second claim that moved a row. crash-steps.ts has all steps; an empty file disarms.
 */
import diagnostics from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { createRequire, flushCompileCache } from "node:module";
import { join } from "node:path";

interface PgClient {
  query(...question: unknown[]): unknown;
}

let armed: { place: string; count: number } | undefined;

process.on("SIGUSR2", () => {
  const [when, what, count] = readFileSync(process.env.CRASH_AT_FILE ?? "", "utf8").split(":");
  armed = { place: `${when}:${what}`, count: Number(count) };
  // What dies never writes it, and starts are what the runs cost: with it they take half the time.
  flushCompileCache();
});

function passed(place: string): void {
  if (armed?.place !== place) return;
  armed.count -= 1;
  if (armed.count <= 0) process.kill(process.pid, "SIGKILL");
}

// The very pg that the servers load. Its clients speak to the embedded store, too.
const load = createRequire(join(import.meta.dirname, "../../packages/postgres/package.json"));
const { Client }: { Client: { prototype: PgClient } } = load("pg");
const query = Client.prototype.query;

Client.prototype.query = function (this: PgClient, ...question) {
  const name = nameOf(question[0]);
  passed(`before:${name}`);
  const answer = query.apply(this, question);
  // The statement is on its way by then, and its answer is not here: the database may commit what nobody hears of.
  if (armed?.place === `during:${name}`) setImmediate(passed, armed.place);
  if (answer instanceof Promise) answer.then(({ rowCount }) => rowCount === 0 || passed(`after:${name}`), ignore);
  return answer;
};

/** A prepared statement's name, or the text of a plain one: "commit". */
function nameOf(question: unknown): string {
  if (typeof question === "string") return question;
  return typeof question === "object" && question !== null && "name" in question ? String(question.name) : "";
}

function ignore(): void {}

diagnostics.subscribe("undici:request:bodySent", () => passed("at:webhook-sent"));
diagnostics.subscribe("undici:request:headers", () => passed("at:webhook-answered"));
diagnostics.subscribe("http.server.request.start", (message) => isWebhook(message) && passed("at:webhook-arrived"));
diagnostics.subscribe("http.server.response.finish", (message) => isWebhook(message) && passed("at:webhook-replied"));

function isWebhook(message: unknown): boolean {
  const { request } = message as { request: { url?: string } }; // Node documents the shape of both channels' messages.
  return request.url?.startsWith("/webhooks/") === true;
}
