import { generateKeyPairSync, randomBytes } from "node:crypto";
import { newCodePrefix } from "@intermission/ad-core/code";
import { type ProgressReport, type ReportRequest, reportResponse } from "@intermission/ad-core/player-api";
import { signInitData } from "@intermission/ad-core/telegram-init-data";
import { createHttpServer } from "@intermission/http-server/http-server";
import { createLogger } from "@intermission/http-server/logger";
import { statement } from "@intermission/postgres/open-database";
import type { FastifyInstance } from "fastify";
import { expect } from "vitest";
import type { AdDatabase } from "../ad-database.ts";
import { type CampaignSnapshot, startCampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { findBot } from "../bots/find-bot.ts";
import { issueCode } from "../codes/issue-code.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { type FillFromTag, tagFiller } from "../vast/fill-from-tag.ts";
import { type Deliveries, noDeliveries } from "../webhook-delivery/deliveries.ts";
import { enqueueWebhook } from "../webhook-delivery/enqueue-webhook.ts";
import { type ViewRecorder, viewRecorder } from "./view-recorder.ts";

/** What the routes of the player need. */
export interface StageDeps {
  database: AdDatabase;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  views: ViewRecorder;
  publicUrl: string;
  fillFromTag: FillFromTag;
  telegramPublicKeyFor: (botId: string) => string;
  now: () => Date;
}

interface StoredSession {
  session_id: string;
  state: string;
  close_reason: string | null;
  refusals: Record<string, number> | null;
}

export type Opened = { session_id: string; token: string; first_sequence: number };
type Answer = { status: number; body: Record<string, unknown> & { error?: { code: string } } };

const log = createLogger({ level: "silent", name: "test" });
const telegram = generateKeyPairSync("ed25519");
const telegramPrivateKey = telegram.privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
const telegramPublicKey = telegram.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

let latestBot = 7_000_000_000;

/**
 * A bot of its own, a ten-second video, a clock to be set, and the routes on a real port: one test's stage. `mount` are
 * the routes. Several stages may share a database.
 */
export async function openSessionStage(
  database: AdDatabase,
  mount: (app: FastifyInstance, deps: StageDeps) => void,
  settings: { cooldownSeconds?: number; dailyCap?: number } = {},
) {
  const botId = String(++latestBot);
  const clock = { now: new Date("2026-03-01T12:00:00Z") };
  await insertBot(database, botId, settings);
  await insertCampaign(database);
  const now = () => clock.now;
  const openSnapshot = () => startCampaignSnapshot({ database, log, everyMs: 60_000, now });
  const campaigns = await openSnapshot();
  const snapshots = [campaigns];
  const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { vast: ["127.0.0.1"] } });
  const deps: StageDeps = {
    database,
    campaigns,
    deliveries: noDeliveries,
    views: viewRecorder({ database, deliveries: noDeliveries }),
    fillFromTag: tagFiller({ database, requests, isPlainHttpAllowed: true, log, now }),
    publicUrl: "http://ads.test",
    telegramPublicKeyFor: () => telegramPublicKey,
    now,
  };
  const servers: FastifyInstance[] = [];
  const address = await startNode();

  /** Beyond the first, each with a snapshot of its own, as in another process. */
  async function startNode(): Promise<string> {
    const app = createHttpServer({ logger: log });
    const isFirst = servers.length === 0;
    const own = isFirst ? campaigns : await openSnapshot();
    if (!isFirst) snapshots.push(own);
    mount(app, isFirst ? deps : { ...deps, campaigns: own, views: viewRecorder(deps) });
    servers.push(app);
    return app.listen({ host: "127.0.0.1", port: 0 });
  }

  async function post(path: string, body: unknown, type = "application/json", at = address): Promise<Answer> {
    const response = await fetch(`${at}/player/v1${path}`, {
      method: "POST",
      headers: { "content-type": type },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  }

  function initData(userId: string, { secondsAgo = 0, ofBot = botId } = {}): string {
    const authDate = Math.floor(clock.now.getTime() / 1000) - secondsAgo;
    const fields = { auth_date: String(authDate), user: JSON.stringify({ id: Number(userId), first_name: "Ann" }) };
    return signInitData({ fields, botToken: "1:made-up", botId: ofBot, privateKey: telegramPrivateKey });
  }

  return {
    botId,
    database,
    clock,
    campaigns,
    views: deps.views,
    requests,
    address,
    initData,
    post,
    startNode,
    advance: (seconds: number) => {
      clock.now = new Date(clock.now.getTime() + seconds * 1000);
    },
    async issue(userId: string, reference?: string): Promise<string> {
      const bot = await findBot(database, botId);
      if (!bot) throw new Error("the stage's bot is gone");
      return (await issueCode(database, { bot, userId, reference, now: clock.now })).code;
    },
    open: (userId: string, code?: string, at = address): Promise<Answer> =>
      post("/sessions", { bot_id: botId, init_data: initData(userId), code }, "application/json", at),
    /** Opens, and expects that there is something to watch. */
    async begin(userId: string, code?: string): Promise<Opened> {
      const { status, body } = await this.open(userId, code);
      expect(body).toMatchObject({ outcome: "session" });
      expect(status).toBe(200);
      return body as unknown as Opened;
    },
    async report(session: Opened, call: Partial<ReportRequest>, at = address): Promise<Answer> {
      const path = `/sessions/${session.session_id}/reports`;
      const answer = await post(path, { token: session.token, reports: [], ...call }, "application/json", at);
      if (answer.status === 200) reportResponse.parse(answer.body);
      return answer;
    },
    /** Plays from second to second in real time, a report for each. */
    async play(session: Opened, fromSecond: number, toSecond: number): Promise<Answer> {
      let answer = await this.report(session, { started: true });
      for (let second = fromSecond; second < toSecond; second++) {
        this.advance(1);
        answer = await this.report(session, {
          reports: [stretch(session.first_sequence + second - fromSecond, second)],
        });
      }
      return answer;
    },
    recordLinkFollowed: (userId: string, code: string) =>
      database.run(insertLinkEvent, [botId, userId, code, clock.now]),
    status: (session: Opened) => post(`/sessions/${session.session_id}/status`, { token: session.token }),
    events: () => rowsOf<{ event: string; user_id: string; code: string; body: string }>(database, "events", botId),
    charges: async () => {
      const made = await rowsOf<{ code: string; campaign_id: string; price_micros: number | null }>(
        database,
        "events",
        botId,
      );
      return made.filter(({ price_micros: price }) => price !== null);
    },
    async sessions() {
      const rows = await rowsOf<StoredSession>(database, "ad_sessions", botId);
      return rows.map((row) => ({ ...row, progress: { refusals: row.refusals ?? {} } }));
    },
    viewers: () => rowsOf<{ user_id: string; earned_today: number }>(database, "viewers", botId),
    async close(): Promise<void> {
      await Promise.all(snapshots.map((snapshot) => snapshot.stop()));
      await requests.close();
      await Promise.all(servers.map((app) => app.close()));
    },
  };
}

export type SessionStage = Awaited<ReturnType<typeof openSessionStage>>;

/** The second of the video from `second` on. */
export function stretch(sequence: number, second: number, visible = true): ProgressReport {
  return { sequence, from_ms: second * 1000, to_ms: (second + 1) * 1000, visible, muted: true };
}

export function wholeVideo(firstSequence = 0): ProgressReport[] {
  return Array.from({ length: 10 }, (_, second) => stretch(firstSequence + second, second));
}

async function insertBot(
  database: AdDatabase,
  botId: string,
  settings: { cooldownSeconds?: number; dailyCap?: number },
) {
  const now = new Date();
  await database.query
    .insertInto("bots")
    .values({
      bot_id: botId,
      code_prefix: newCodePrefix(randomBytes(32)),
      name: "Test bot",
      username: "test_bot",
      publisher_api_url: null,
      cooldown_seconds: settings.cooldownSeconds ?? 0,
      daily_cap: settings.dailyCap ?? 20,
      created_at: now,
      updated_at: now,
    })
    .execute();
  await database.query
    .insertInto("endpoints")
    .values({ bot_id: botId, url: "https://bot.test/webhooks", state: "active" })
    .execute();
  await database.query.insertInto("endpoint_claims").values({ bot_id: botId }).execute();
}

const insertHouseAd = statement(
  "test.house-ad",
  `with video as (
    insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
    values ('cre_1', 'ab', 'ab.mp4', 'video/mp4', 1000, 10000, 540, 960) on conflict do nothing
  ),
  advertiser as (insert into advertisers (name, name_key) values ('Intermission', 'intermission') on conflict do nothing),
  house as (
    insert into campaigns (campaign_id, name, advertiser, formats, landing_url, call_to_action, view_price_micros)
    values ('cmp_1', 'House', 'Intermission', '{rewarded}', 'https://example.com/', 'Look', 2500) on conflict do nothing
  )
  insert into campaign_creatives (campaign_id, creative_id) values ('cmp_1', 'cre_1') on conflict do nothing`,
);

const insertLinkEvent = statement(
  "test.link-event",
  `with earned as (
    select $1::text as bot_id, 'evt_' || $3 as event_id, 'direct_link' as event, $2::text as user_id, $3::text as code,
      null::text as reference, false as is_test, null::text as campaign_id, null::text as creative_id, null::bigint as price_micros,
      $4::timestamptz as occurred_at, '{}' as body
  ),
  ${enqueueWebhook({ from: "earned" })}
  select count(*) from enqueued`,
);

async function insertCampaign(database: AdDatabase): Promise<void> {
  await database.run(insertHouseAd, []);
}

async function rowsOf<Row>(database: AdDatabase, table: string, botId: string): Promise<Row[]> {
  return database.run(statement<Row>(`test.${table}`, `select * from ${table} where bot_id = $1`), [botId]);
}
