import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "../node.ts";
import { answerClient, commonHeaders, type FakeState, Refusal, refuse } from "./fake-client-api.ts";
import { FakeEvents } from "./fake-events.ts";
import type { Earning, FakeAdService, FakeAdServiceOptions } from "./fake-interface.ts";

const LATE_CLOSE_MS = 10 * 60_000;

/** An ad service in memory with one bot: the client API and signed webhooks as in the contract. Users earn by `earn`. */
export function fakeAdService(options: FakeAdServiceOptions = {}): FakeAdService {
  const { botId = "7000000001", testers = [], lifetimeSeconds = 3600, now = () => new Date() } = options;
  const tokens = [options.tokens ?? "ad_test"].flat();
  const events = new FakeEvents({ tokens, now, webhook: options.webhook });
  const state: FakeState = {
    botId,
    tokens,
    testers,
    lifetimeSeconds,
    now,
    events,
    rewards: options.rewards,
    url: "http://ads.test",
    codes: new Map(),
    availability: { available: true },
  };
  const refusals: Refusal[] = [];

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    try {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
      const path = /^\/client\/v1(\/.*)$/.exec(pathname)?.[1];
      if (path !== undefined) return await answerClient(state, path, request);
      const code = /^\/([0-9A-Za-z]+)$/.exec(pathname)?.[1];
      if (code === undefined || request.method !== "GET") throw new Refusal(404, "NOT_FOUND", "no such path");
      await earn(code, "direct_link");
      return new Response(null, { status: 302, headers: { location: "https://example.com/" } });
    } catch (error) {
      if (error instanceof Refusal) return refuse(error);
      throw error;
    }
  }

  async function handle(request: Request): Promise<Response> {
    const response = await answer(request);
    for (const [name, value] of Object.entries(commonHeaders())) response.headers.set(name, value);
    return response;
  }

  const earn: FakeAdService["earn"] = (code, event = "rewarded", { startParam, clientNote } = {}) =>
    earnOf(state, { code, event, startParam, clientNote, revenue: options.revenue });

  const server = createServer(toNodeHandler(handle));
  return {
    get url() {
      return state.url;
    },
    botId,
    token: tokens[0] ?? "",
    fetch: (input, init) => handle(new Request(input, init)),
    async listen(port = 0) {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, "127.0.0.1", resolve);
      });
      state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return state.url;
    },
    earn,
    sendWaiting: () => events.sendWaiting(),
    setWebhook(webhook) {
      events.webhook = webhook;
    },
    setAvailability(availability) {
      state.availability = availability;
    },
    refuseNext({ status, code, retryAfterSeconds }) {
      const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
      refusals.push(new Refusal(status, code, "refused by refuseNext", headers));
    },
    async close() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Earned {
  readonly code: string;
  readonly event: "rewarded" | "direct_link";
  readonly startParam: string | undefined;
  readonly clientNote: string | undefined;
  readonly revenue: FakeAdServiceOptions["revenue"];
}

/** The user of the code earns the event, and its webhook is sent. */
async function earnOf({ codes, botId, events, now }: FakeState, earned: Earned): Promise<Earning> {
  const { code, event, revenue } = earned;
  const known = codes.get(code);
  if (known === undefined) return { outcome: "unknown-code" };
  // A view that began in time may end later.
  const lateMs = event === "rewarded" ? LATE_CLOSE_MS : 0;
  if (now().getTime() > known.expiresAt.getTime() + lateMs) return { outcome: "expired" };
  if (known.earned.some((earlier) => earlier.event === event)) return { outcome: "already-earned" };
  const { userId, reference } = known;
  // A direct link opens no mini-app.
  const { startParam, clientNote } = event === "rewarded" ? earned : {};
  if (event === "rewarded") known.startParam = startParam;
  const named = {
    code,
    ...(reference !== undefined && { reference }),
    ...(startParam !== undefined && { start_param: startParam }),
    ...(clientNote !== undefined && { client_note: clientNote }),
  };
  const worth = revenue && { revenue_micros: revenue[event] ?? 0, currency: revenue.currency };
  const stored = events.add({ event, bot_id: botId, user_tg_id: userId, ...named, ...worth });
  const { event_id: eventId, occurred_at } = stored.fields;
  known.earned.push({ event, event_id: eventId, occurred_at });
  const { isDelivered } = await events.send(stored);
  return { outcome: "earned", eventId, isDelivered };
}
