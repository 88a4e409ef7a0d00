/**
 * The reference for the HTTP paths: Fastify with answers of the same shape. As the floor it has no store. With
 * `DATABASE_URL` or `DATA_DIR` it answers after one row is committed, with the project's group commits, in one table with
 * one index: the minimum for a server that loses nothing, and so about the maximum rate of a path with a store.
 */
import { createHash, randomBytes } from "node:crypto";
import Fastify from "fastify";
import { groupCommits } from "../packages/postgres/src/group-commits.ts";
import { openDatabase, statement } from "../packages/postgres/src/open-database.ts";

const { PORT, DATABASE_URL, DATA_DIR } = process.env;
const body = "x".repeat(250);
const moment = "2030-01-01T00:00:00Z";
const newId = () => randomBytes(12).toString("hex");

const tables = "create table kept (id text primary key, body text not null)";
const insert = statement<never>(
  "bench.keep",
  "insert into kept select id, $2 from unnest($1::text[]) as id on conflict do nothing",
);

async function openKeeper() {
  const database = await openDatabase({
    databaseUrl: DATABASE_URL,
    dataDirectory: DATA_DIR ?? "",
    schema: "bench_floor",
    migrations: { "0001-kept": tables },
  });
  const group = groupCommits<string, undefined>({
    name: "floor",
    orderBy: (id) => id,
    async run(ids) {
      await database.run(insert, [ids, body]);
      return ids.map(() => undefined);
    },
  });
  return { keep: group.submit, close: database.close };
}

const keeper = DATABASE_URL !== undefined || DATA_DIR !== undefined ? await openKeeper() : undefined;
const app = Fastify();

app.post("/client/v1/codes", async (request) => {
  createHash("sha256")
    .update(request.headers.authorization ?? "")
    .digest();
  const code = newId().slice(0, 16);
  await keeper?.keep(code);
  return { code, expires_in: 3600, expires_at: moment };
});
app.get<{ Params: { code: string } }>("/:code", async (request, reply) => {
  await keeper?.keep(`click ${request.params.code}`);
  return reply
    .header("cache-control", "no-store")
    .header("x-robots-tag", "noindex")
    .header("referrer-policy", "no-referrer")
    .redirect("https://advertiser.example/landing?click=0123456789abcdef", 302);
});
app.post<{ Body: { event_id: string } }>("/webhooks/ads", async (request) => {
  await keeper?.keep(request.body.event_id);
  return { outcome: "recorded" };
});
app.post<{ Body: { bot_id: string; code: string } }>("/player/v1/sessions", async (request) => {
  const { bot_id: botId, code } = request.body;
  const id = newId();
  await keeper?.keep(id);
  return {
    outcome: "session",
    bot: { bot_id: botId, name: "Floor", link: "https://t.me/floor_bot" },
    session_id: id,
    token: id,
    code,
    state: "opened",
    ad: {
      advertiser: "Intermission",
      media_url: `https://ads.example/media/${body.slice(0, 64)}.mp4`,
      media_type: "video/mp4",
      duration_ms: 30_000,
      width: 180,
      height: 320,
      call_to_action: { label: "Learn more", url: `https://ads.example/player/v1/sessions/${id}/click` },
    },
    accepted_ms: 0,
    resume_at_ms: 0,
    first_sequence: 0,
    server_time: moment,
    deadline: moment,
  };
});
app.post<{ Body: { reports: { sequence: number; to_ms: number }[]; closed?: string } }>(
  "/player/v1/sessions/:sessionId/reports",
  async (request) => {
    await keeper?.keep(newId());
    const { reports, closed } = request.body;
    return {
      state: closed === undefined ? "playing" : "rewarded",
      accepted_ms: reports.at(-1)?.to_ms ?? 0,
      acknowledged: reports.map(({ sequence }) => sequence),
      refused: [],
      server_time: moment,
    };
  },
);

const address = await app.listen({ host: "127.0.0.1", port: Number(PORT) });
console.log(JSON.stringify({ msg: "listening", url: address }));
process.once("SIGTERM", async () => {
  await app.close();
  await keeper?.close();
  process.exit(0);
});
