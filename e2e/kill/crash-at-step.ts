/**
 * Preloaded into an unmodified server (`node --import`): kills it with SIGKILL at an exact step, so that no cleanup runs.
 * SIGUSR2 arms it with the content of the file CRASH_AT_FILE: "after:deliveries.claim:2" means after the second claim that
 * changed a row. crash-steps.ts lists all steps; an empty file disarms.
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
  // A killed process never writes the compile cache. Starts dominate a run's time, and the cache halves them.
  flushCompileCache();
});

function passed(place: string): void {
  if (armed?.place !== place) return;
  armed.count -= 1;
  if (armed.count <= 0) process.kill(process.pid, "SIGKILL");
}

// Resolves the same pg module as the servers.
const load = createRequire(join(import.meta.dirname, "../../packages/postgres/package.json"));
const { Client }: { Client: { prototype: PgClient } } = load("pg");
const query = Client.prototype.query;

Client.prototype.query = function (this: PgClient, ...question) {
  const name = nameOf(question[0]);
  passed(`before:${name}`);
  const answer = query.apply(this, question);
  // The statement is sent but not answered: the database may commit although no process learns of it.
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
