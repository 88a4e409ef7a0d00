/**
 * `node bench/concurrent-viewers.ts`: many concurrent viewers on one node, in real time. Each watches videos of 30 s one
 * after another, reports as a player does, and closes. Their starts are spread evenly over 30 s; then the measured seconds
 * follow, and then the views under way end. Latencies count from the moment when a call is due, so that delays by a slow
 * server are included. Fails if a report is lost, a view is not paid exactly once, or p99 of a report is 100 ms or more.
 *
 *   node bench/concurrent-viewers.ts [--viewers 5000] [--seconds 60] [--store postgres-socket]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { ListEventsResponse } from "@intermission/ad-core/client-api";
import type { ProgressReport, ReportResponse } from "@intermission/ad-core/player-api";
import { Pool } from "undici";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { stackTarget, type Target } from "./bench-stack.ts";
import { issueCodes, newUsers } from "./clicks.ts";
import { type LoadRequest, quantileMilliseconds } from "./load.ts";
import { openPostgresFigures, type PostgresFigures } from "./postgres-figures.ts";
import { processorMilliseconds, residentMegabytes } from "./processor-time.ts";
import { isAcknowledged, openedSession, openingOf, reportAt, reportOf, reportsAt, videoSeconds } from "./views.ts";

const { values } = parseArgs({
  options: {
    viewers: { type: "string", default: "5000" },
    seconds: { type: "string", default: "60" },
    store: { type: "string", default: "postgres-socket" },
  },
});
const [viewers, measuredSeconds] = [Number(values.viewers), Number(values.seconds)];
const maxMilliseconds = 100;
const viewsEach = Math.ceil(measuredSeconds / videoSeconds) + 2;

/** The delay of playback after the report of the start. */
const firstFrameMs = 300;

type Call = "open" | "report" | "close";

interface Run {
  readonly target: Target;
  readonly pool: Pool;
  readonly codes: ReadonlyMap<string, string>;
  /** In the time of `performance.now()`: only calls that are due between `from` and `until` are measured. */
  readonly from: number;
  readonly until: number;
  readonly latencies: Readonly<Record<Call, Map<number, number>>>;
  readonly closed: Set<string>;
}

/** Watches one video after another, each as another user, so that limits per user do not apply. */
async function watchOnAndOn(run: Run, users: readonly string[], startsAt: number): Promise<void> {
  let due = startsAt;
  for (const userId of users) {
    if (due >= run.until) return;
    due = await watchOnce(run, userId, due);
  }
}

/** Returns the planned time for the next view, after the close of this one. */
async function watchOnce(run: Run, userId: string, startsAt: number): Promise<number> {
  const { target, codes, closed } = run;
  const code = codes.get(userId) ?? "";
  await untilDue(startsAt);
  const opened = openedSession(await call(run, "open", openingOf(target, { userId, code, at: new Date() }), startsAt));
  const playsFrom = Math.max(startsAt, performance.now());
  let due = playsFrom;
  let kept: ProgressReport[] = [];
  for (const [index, second] of reportsAt.entries()) {
    due = playsFrom + second * 1000 + (index === 0 ? 0 : firstFrameMs);
    await untilDue(due);
    const report = reportAt(index, reportsAt, kept);
    const answer = await call(run, "report", reportOf(opened, report), due);
    kept = isAcknowledged(answer) ? [] : report.reports;
  }
  due += 500;
  await untilDue(due);
  const answer: ReportResponse = JSON.parse(
    await call(run, "close", reportOf(opened, { reports: [], closed: "tap" }), due),
  );
  if (answer.state !== "rewarded") throw new Error(`a view that was watched and closed is ${JSON.stringify(answer)}`);
  closed.add(code);
  return due + 200;
}

async function call(run: Run, name: Call, { method, path, headers, body }: LoadRequest, due: number): Promise<string> {
  const answer = await run.pool.request({ method, path, headers: headers ?? {}, body: body ?? "" });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`);
  const microseconds = Math.round((performance.now() - due) * 1000);
  const { [name]: counts } = run.latencies;
  if (due >= run.from && due < run.until) counts.set(microseconds, (counts.get(microseconds) ?? 0) + 1);
  return text;
}

async function untilDue(due: number): Promise<void> {
  const milliseconds = due - performance.now();
  if (milliseconds > 0) await sleep(milliseconds);
}

/** How often each code earned, from the publisher's list of events. */
async function eventsByCode({ urls, bot }: Target): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let after = "", hasMore = true; hasMore; ) {
    const address = `${urls.adService}/client/v1/events?limit=1000${after && `&after=${encodeURIComponent(after)}`}`;
    const answer = await fetch(address, { headers: { authorization: `Bearer ${bot.token}` } });
    if (!answer.ok) throw new Error(`the feed answered ${answer.status}: ${await answer.text()}`);
    const { events, next, has_more }: ListEventsResponse = await answer.json();
    // The endpoint's test event has no code.
    for (const { code } of events) if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + 1);
    [after, hasMore] = [next, has_more];
  }
  return counts;
}

async function watchAll(target: Target, postgres: PostgresFigures | undefined): Promise<boolean> {
  const usersOf = Array.from({ length: viewers }, () => newUsers(viewsEach));
  const users = usersOf.flat();
  const issued = await issueCodes(target, users);
  const codes = new Map(users.map((userId, index) => [userId, issued[index] ?? ""]));
  const pool = new Pool(target.urls.adService, { connections: 256, pipelining: 1 });
  const from = performance.now() + videoSeconds * 1000;
  const latencies = { open: new Map(), report: new Map(), close: new Map() };
  const run: Run = { target, pool, codes, from, until: from + measuredSeconds * 1000, latencies, closed: new Set() };
  const [pid = 0] = target.pids;
  let megabytes = residentMegabytes(pid);
  const watchingMemory = setInterval(() => {
    megabytes = Math.max(megabytes, residentMegabytes(pid));
  }, 1000);
  const costsNow = () => [processorMilliseconds([pid]), postgres?.processorMilliseconds() ?? Number.NaN];
  const ownBefore = process.cpuUsage();
  const before = costsNow();
  const startedAt = performance.now();
  const spread = (videoSeconds * 1000) / viewers;
  await Promise.all(usersOf.map((ofViewer, at) => watchOnAndOn(run, ofViewer, startedAt + at * spread)));
  clearInterval(watchingMemory);
  const seconds = (performance.now() - startedAt) / 1000;
  const [node = 0, server = 0] = costsNow().map((after, at) => (after - (before[at] ?? 0)) / 10 / seconds);
  const { user, system } = process.cpuUsage(ownBefore);
  await pool.close();
  for (const name of ["open", "report", "close"] as const) {
    const counts = { latencies: latencies[name] };
    const perSecond = [...latencies[name].values()].reduce((sum, count) => sum + count, 0) / measuredSeconds;
    const [p50, p99] = [quantileMilliseconds(counts, 0.5), quantileMilliseconds(counts, 0.99)];
    console.log(`${name}: ${perSecond.toFixed(0)} per s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  }
  const own = (user + system) / 10_000 / seconds;
  console.log(
    `of one core: server ${node.toFixed(0)} %, PostgreSQL ${server.toFixed(0)} %, viewers ${own.toFixed(0)} %`,
  );
  console.log(`memory of the server: ${megabytes.toFixed(0)} MB at most`);
  const earned = await eventsByCode(target);
  const unpaid = [...run.closed].filter((code) => earned.get(code) !== 1);
  const others = [...earned.keys()].filter((code) => !run.closed.has(code));
  console.log(`${run.closed.size} views watched and closed, ${earned.size} paid`);
  if (unpaid.length + others.length > 0) console.log(`NOT PAID ONCE: ${[...unpaid, ...others].slice(0, 5).join(", ")}`);
  const p99 = quantileMilliseconds({ latencies: latencies.report }, 0.99);
  if (!(p99 < maxMilliseconds)) console.log(`p99 of a report MISSES ${maxMilliseconds} ms`);
  return unpaid.length + others.length === 0 && p99 < maxMilliseconds;
}

const server = values.store === "embedded" ? undefined : await findPostgres({ fsync: true });
const figures = server && (await openPostgresFigures(server.url));
const database = server && (await createServerDatabase(server.url));
try {
  const url =
    database && (values.store === "postgres-socket" ? await figures?.socketUrlOf(database.url) : database.url);
  const target = await stackTarget(
    values.store,
    { name: values.store, ...(url !== undefined && { databaseUrl: url }) },
    { videoSeconds },
  );
  try {
    console.log(`${viewers} concurrent viewers on ${values.store} for ${measuredSeconds} s:`);
    if (!(await watchAll(target, figures))) process.exitCode = 1;
  } finally {
    await target.stop();
  }
} finally {
  await database?.drop();
  await figures?.close();
  await server?.stop();
}
