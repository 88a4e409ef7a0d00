import { randomUUID } from "node:crypto";
import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { createHttpServer } from "@intermission/http-server/http-server";
import { createLogger } from "@intermission/http-server/logger";
import { statement } from "@intermission/postgres/open-database";
import type { FastifyInstance } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import { type CampaignSnapshot, startCampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { addBot } from "../bots/add-bot.ts";
import { secretBox } from "../bots/secret-box.ts";
import { addCampaign } from "../campaigns/add-campaign.ts";
import { setCampaignStatus } from "../campaigns/update-campaign.ts";
import { issueCode } from "../codes/issue-code.ts";
import { noDeliveries } from "../webhook-delivery/deliveries.ts";
import { enqueueWebhook } from "../webhook-delivery/enqueue-webhook.ts";
import type { DirectLinkDeps } from "./routes.ts";
import { personAgents } from "./visitor-agents.ts";

export interface LinkVisit {
  method?: "GET" | "HEAD" | "POST";
  /** A header of undefined is not sent. */
  headers?: Record<string, string | undefined>;
  address?: string;
  body?: string;
}

export interface VisitAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const log = createLogger({ level: "silent", name: "test" });
const encryptionKey = Buffer.alloc(32, 3);
let latestBot = 710_000_000;
let latestAddress = 0;

/** An address in an unused network (/24). */
export function newAddress(): string {
  latestAddress += 1;
  return `${100 + (latestAddress >> 16)}.${(latestAddress >> 8) & 255}.${latestAddress & 255}.7`;
}

/** A bot of its own, one campaign, a clock to be set, and the routes on a real port. For tests. */
export async function openDirectLinkStage(
  database: AdDatabase,
  mount: (app: FastifyInstance, deps: DirectLinkDeps) => void,
  {
    mostDailyClicksPerAddress,
    directLinkUrl,
    ...settings
  }: {
    cooldownSeconds?: number;
    dailyCap?: number;
    mostDailyClicksPerAddress?: number;
    directLinkUrl?: string;
    suspiciousClicks?: "pay" | "hold" | "refuse";
  } = {},
) {
  const clock = { now: new Date("2026-03-01T12:00:00Z") };
  const botId = String(++latestBot);
  const added = await addBot(
    { database, secretBox: secretBox(encryptionKey) },
    {
      botId,
      settings: { name: 'Coins & "Co" <b>', username: "coin_bot", cooldownSeconds: 0, ...settings },
      now: clock.now,
    },
  );
  if (added.outcome !== "added") throw new Error(added.outcome);
  const { bot } = added;

  async function addLinkCampaign(landingUrl: string): Promise<string> {
    const campaignId = `cmp_${randomUUID()}`;
    const campaign = await addCampaign(database, {
      ...{ campaignId, name: "Link", advertiser: "Shop", formats: ["direct_link"], clickPriceMicros: 1500, landingUrl },
      targeting: { bots: [botId] },
      now: clock.now,
    });
    if (campaign.outcome !== "added") throw new Error(campaign.outcome);
    return campaignId;
  }
  const campaignId = await addLinkCampaign(
    "https://shop.test/p?c={click_id}&code={code}&b={bot_id}&k={campaign_id}&r={creative_id}",
  );

  const servers: FastifyInstance[] = [];
  const snapshots: CampaignSnapshot[] = [];
  const nodes = [await startNode(), await startNode()];

  async function startNode(): Promise<URL> {
    const app = createHttpServer({ logger: log, trustProxy: true });
    const campaigns = await startCampaignSnapshot({ database, log, everyMs: 60_000, now: () => clock.now });
    snapshots.push(campaigns);
    const options = { encryptionKey, mostDailyClicksPerAddress, directLinkUrl };
    mount(app, { database, campaigns, deliveries: noDeliveries, ...options, now: () => clock.now });
    servers.push(app);
    return new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  }

  const rowsOf = <Row>(text: string) => database.run(statement<Row>(`test.${text}`.slice(0, 60), text), [botId]);

  return {
    botId,
    campaignId,
    /** A third node, and more; they are numbered on. */
    async addNode(): Promise<void> {
      nodes.push(await startNode());
    },
    async addCampaign(landingUrl: string): Promise<void> {
      await addLinkCampaign(landingUrl);
      await this.refresh();
    },
    refresh: () => Promise.all(snapshots.map((snapshot) => snapshot.refresh())),
    async setStatus(status: "active" | "paused") {
      await setCampaignStatus(database, { campaignId, status, now: clock.now });
      await Promise.all(snapshots.map((snapshot) => snapshot.refresh()));
    },
    origin: nodes[0]?.origin ?? "",
    advance(seconds: number) {
      clock.now = new Date(clock.now.getTime() + seconds * 1000);
    },
    async issue(userId = "501", reference?: string): Promise<string> {
      return (await issueCode(database, { bot, userId, reference, now: clock.now })).code;
    },
    visit(
      code: string,
      { method = "GET", headers = {}, address = newAddress(), body = "" }: LinkVisit = {},
      node = 0,
    ): Promise<VisitAnswer> {
      const all = { "user-agent": personAgents[0], "accept-language": "en", "x-forwarded-for": address, ...headers };
      const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return send({ port: nodes[node]?.port ?? "", method, path: `/${code}`, headers: sent }, body);
    },
    /** A tap on the button of a page that was answered: its form is sent as a browser sends it. */
    tap(page: VisitAnswer, { headers, ...visit }: LinkVisit = {}, node = 0): Promise<VisitAnswer> {
      const [, code] = /<form method="post" action="\/(\w+)">/.exec(page.body) ?? [];
      if (code === undefined) throw new Error(`the page has no form: ${page.status} ${page.body}`);
      const fields = [...page.body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
      const body = fields.map(([, name = "", value = ""]) => `${name}=${encodeURIComponent(value)}`).join("&");
      const sent = { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded", ...headers };
      return this.visit(code, { method: "POST", headers: sent, body, ...visit }, node);
    },
    /** As if the code's video had been watched. */
    async earnByView(code: string) {
      const text = `with earned as (
        select bot_id, 'evt_' || gen_random_uuid() as event_id, 'rewarded' as event, user_id, code, nullif(reference, '') as reference,
          false as is_test, null::text as campaign_id, null::text as creative_id, null::bigint as price_micros,
          now() as occurred_at, '{}' as body
        from codes where bot_id = $1 and code = $2
      ), ${enqueueWebhook({ from: "earned" })} select 1 from enqueued`;
      await database.run(statement("test.earn-by-view", text), [botId, code]);
    },
    /** As if the code's video were playing, with an hour left to earn. */
    async beginView(code: string) {
      const text = `with video as (
        insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
        values ('cre_view', 'ab', 'ab.mp4', 'video/mp4', 1, 1000, 1, 1) on conflict do nothing
      ), advertiser as (
        insert into advertisers (name, name_key) values ('House', 'house') on conflict do nothing
      ), house as (
        insert into campaigns (campaign_id, name, advertiser, formats)
        values ('cmp_view', 'House', 'House', '{rewarded}') on conflict do nothing
      )
      insert into ad_sessions (bot_id, session_id, code, user_id, campaign_id, creative_id, state, token_hash, duration_ms,
        opened_at, started_at, deadline)
      select bot_id, code, code, user_id, 'cmp_view', 'cre_view', 'playing', '', 1000, $3::timestamptz, $3,
        $3::timestamptz + interval '1 hour'
      from codes where bot_id = $1 and code = $2`;
      await database.run(statement("test.begin-view", text), [botId, code, clock.now]);
    },
    suspend: () => database.query.updateTable("bots").set({ is_suspended: true }).where("bot_id", "=", botId).execute(),
    events: () =>
      rowsOf<{ event: string; code: string; body: string; event_id: string }>("select * from events where bot_id = $1"),
    charges: () =>
      rowsOf<{ code: string; price_micros: number }>(
        "select code, price_micros from events where bot_id = $1 and price_micros is not null",
      ),
    viewers: () => rowsOf<{ user_id: string; earned_today: number }>("select * from viewers where bot_id = $1"),
    clicks: () =>
      rowsOf<{
        outcome: string;
        click_id: string;
        campaign_id: string | null;
        user_agent: string;
        address_hash: Buffer;
      }>(`select case when is_test then 'test' else 'counted' end as outcome, 'clk_' || substr(event_id, 5) as click_id,
            campaign_id, user_agent, address_hash
          from events where bot_id = $1 and event = 'direct_link'
          union all select outcome, click_id, campaign_id, user_agent, address_hash from withheld_clicks where bot_id = $1
          order by click_id`),
    /** How many visits were refused, by reason. */
    async refusals(): Promise<Record<string, number>> {
      const text = "select reason, sum(count)::integer as count from click_refusals where bot_id = $1 group by reason";
      const rows = await rowsOf<{ reason: string; count: number }>(text);
      return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
    },
    async close() {
      await Promise.all([...snapshots, ...servers].map((one) => ("stop" in one ? one.stop() : one.close())));
    },
  };
}

function send(options: RequestOptions, body: string): Promise<VisitAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
