import {
  availabilityResponse,
  createCodeResponse,
  describeCodeResponse,
  errorEnvelope,
  listAttemptsResponse,
  listEventsResponse,
  redeliverEventResponse,
  statsResponse,
  testWebhookResponse,
} from "@intermission/ad-core/client-api";
import { eventIdPattern, isCode } from "@intermission/ad-core/code";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { headerFaults, openWebhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

/** A running ad service with one bot, whose webhook is active and whose users can earn by direct links. */
interface ServiceUnderTest {
  readonly address: string;
  readonly botId: string;
  readonly token: string;
  /** A person follows a direct link. Returns the status of the answer. */
  followLink(link: string): Promise<number>;
  close(): Promise<void>;
}

let users = 0;
const newUser = () => String(800_000_000 + ++users);

/** The tests of the client API and of webhooks by docs/contract.md, for any service that speaks it. */
export function clientApiContract(name: string, start: (webhookUrl: string) => Promise<ServiceUnderTest>): void {
  describe(`${name} obeys the contract`, () => {
    const contract = useService(start);
    codesAndEvents(contract);
    listsAndDeliveries(contract);
    statistics(contract);
    refusals(contract);
  });
}

type Contract = ReturnType<typeof useService>;

/** Starts the service with a receiver of its webhooks, for the tests of this block. */
function useService(start: (webhookUrl: string) => Promise<ServiceUnderTest>) {
  let service: ServiceUnderTest;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await openWebhookReceiver();
    service = await start(receiver.url);
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });
  beforeEach(() => {
    receiver.status = 200;
    receiver.received.length = 0;
  });

  const call = (path: string, { body, ...init }: Omit<RequestInit, "body"> & { body?: unknown } = {}) =>
    fetch(`${service.address}/client/v1${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${service.token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(init.headers as Record<string, string>),
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const post = (path: string, body?: unknown) => call(path, { method: "POST", body });
  async function createCode(userId: string, more: object = {}) {
    const answer = await post("/codes", { bot_id: service.botId, user_tg_id: userId, ...more });
    expect(answer.status).toBe(200);
    return createCodeResponse.strict().parse(await answer.json());
  }
  const listEvents = async (query = "") =>
    listEventsResponse.strict().parse(await (await call(`/events?limit=1000${query}`)).json());
  /** Earns by the direct link, and waits until the event's webhook has arrived. */
  async function earn(reference?: string) {
    const userId = newUser();
    const { code, direct_link: link = "" } = await createCode(userId, reference === undefined ? {} : { reference });
    expect(await service.followLink(link)).toBe(302);
    const isOfCode = ({ fields }: { fields: Readonly<Record<string, unknown>> }) => fields.code === code;
    const arrived = () => receiver.received.filter(isOfCode);
    await expect.poll(() => arrived().length, { timeout: 20_000 }).toBeGreaterThan(0);
    const eventId = String(arrived()[0]?.fields.event_id);
    return { userId, code, link, eventId, arrived };
  }
  const deliveryOf = async (eventId: string) =>
    (await listEvents()).events.find((event) => event.event_id === eventId)?.delivery;
  return {
    service: () => service,
    receiver: () => receiver,
    call,
    post,
    createCode,
    listEvents,
    earn,
    deliveryOf,
  };
}

function codesAndEvents({ service, call, createCode, earn, deliveryOf }: Contract): void {
  test("a code is created with 200, its expiry and both of its addresses", async () => {
    const created = await createCode(newUser());
    expect(isCode(created.code)).toBe(true);
    const secondsLeft = (Date.parse(created.expires_at) - Date.now()) / 1000;
    expect(Math.abs(secondsLeft - created.expires_in)).toBeLessThan(30);
    expect(created.direct_link).toMatch(new RegExp(`/${created.code}$`));
    const miniapp = new URL(created.miniapp_url ?? "");
    expect([miniapp.searchParams.get("code"), miniapp.pathname.split("/").at(-1)]).toEqual([
      created.code,
      service().botId,
    ]);
  });

  test("parallel requests for one user and reference get one code, and each reference has its own", async () => {
    const userId = newUser();
    const created = await Promise.all(Array.from({ length: 8 }, () => createCode(userId, { reference: "order 7" })));
    expect(new Set(created.map(({ code }) => code)).size).toBe(1);
    expect((await createCode(userId, { reference: "order 8" })).code).not.toBe(created[0]?.code);
    expect((await createCode(userId)).code).not.toBe(created[0]?.code);
  });

  test("a link that is followed earns one event, which is described, sent, signed and listed", async () => {
    const { userId, code, link, eventId, arrived } = await earn("Bestellung №7 🎁");
    expect(eventId).toMatch(eventIdPattern);
    const [webhook] = arrived();
    expect(webhook?.fields).toEqual({
      event: "direct_link",
      event_id: eventId,
      bot_id: service().botId,
      user_tg_id: userId,
      code,
      reference: "Bestellung №7 🎁",
      occurred_at: expect.any(String),
    });
    expect(webhook && headerFaults(webhook, service().token)).toEqual([]);
    await service().followLink(link);

    const described = describeCodeResponse.strict().parse(await (await call(`/codes/${code}`)).json());
    expect(described).toMatchObject({ user_tg_id: userId, reference: "Bestellung №7 🎁", is_expired: false });
    expect(described.earned).toMatchObject([{ event: "direct_link", event_id: eventId }]);
    await expect.poll(() => deliveryOf(eventId), { timeout: 20_000 }).toBe("delivered");
    expect((await createCode(userId, { reference: "Bestellung №7 🎁" })).code).not.toBe(code);
    expect(arrived()).toHaveLength(1);
  });
}

function listsAndDeliveries({ service, receiver, call, post, listEvents, earn, deliveryOf }: Contract): void {
  test("the list of events continues from its cursor, page by page, and repeats none", async () => {
    const first = await earn();
    // Until then its place in the list stays, and its delivery changes between two answers.
    await expect.poll(() => deliveryOf(first.eventId), { timeout: 20_000 }).toBe("delivered");
    const { next } = await listEvents();
    expect(await listEvents(`&after=${encodeURIComponent(next)}`)).toEqual({ events: [], next, has_more: false });
    const all = (await listEvents()).events;
    expect(await listEvents("&latest=2")).toEqual({ events: all.slice(-2), next, has_more: false });
    const added = [(await earn()).eventId, (await earn()).eventId];
    const found: string[] = [];
    let after = next;
    const readOn = async () => {
      const page = await call(`/events?limit=1&after=${encodeURIComponent(after)}`).then((answer) => answer.json());
      const { events, next: place } = listEventsResponse.parse(page);
      after = place;
      found.push(...events.map(({ event_id: id }) => id));
      return found;
    };
    await expect.poll(readOn, { timeout: 20_000 }).toEqual(added);
  });

  test("an event that the webhook refused is sent again on request, with the same bytes", async () => {
    receiver().status = 500;
    const { eventId, arrived } = await earn();
    await expect.poll(() => deliveryOf(eventId), { timeout: 20_000 }).toBe("waiting");
    const shown = await (await call(`/events/${eventId}/attempts`)).json();
    const [attempt] = listAttemptsResponse.strict().parse(shown).attempts;
    expect(attempt).toMatchObject({ attempt: 1, url: receiver().url, status: 500, advice: expect.any(String) });
    receiver().status = 200;
    const answer = await post(`/events/${eventId}/redeliver`);
    expect([answer.status, redeliverEventResponse.strict().parse(await answer.json()).event_id]).toEqual([
      202,
      eventId,
    ]);
    await expect.poll(() => deliveryOf(eventId), { timeout: 20_000 }).toBe("delivered");
    const [one, other] = arrived();
    expect(other?.body).toEqual(one?.body);
    expect(other && headerFaults(other, service().token)).toEqual([]);
    expect(Number(other?.headers["webhook-attempt"])).toBeGreaterThan(1);
  });

  test("a test of the webhook reports its answer, pays user 0, and is listed as a test", async () => {
    const send = async (body: object) =>
      testWebhookResponse.strict().parse(await (await post("/webhook/test", body)).json());
    const tested = await send({ event: "direct_link" });
    expect(tested).toMatchObject({ delivered: true, status: 200 });
    const webhook = receiver().received.find(({ fields }) => fields.event_id === tested.event_id);
    expect(webhook?.fields).toMatchObject({ event: "direct_link", user_tg_id: "0", test: true });
    expect(webhook && headerFaults(webhook, service().token)).toEqual([]);
    receiver().status = 503;
    expect(await send({})).toMatchObject({ delivered: false, status: 503, answer: "answered" });
    const find = async () => (await listEvents()).events.find(({ event_id: id }) => id === tested.event_id);
    await expect.poll(find, { timeout: 20_000 }).toMatchObject({ test: true, user_tg_id: "0" });
  });
}

function statistics({ call }: Contract): void {
  test("availability and statistics have the shape of the contract", async () => {
    const available = await call(`/availability?user_tg_id=${newUser()}`);
    expect(availabilityResponse.strict().parse(await available.json())).toEqual({ available: true });
    statsResponse.parse(await (await call("/stats?by=hour")).json());
  });

  test("the statistics begin at the moment of the request, in any form of RFC 3339", async () => {
    const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    for (const from of [day, `${day}t00:00:00z`, `${day}T00:00:00.000000+00:00`, `${day}T09:00:00+09:00`]) {
      const answer = await call(`/stats?from=${encodeURIComponent(from)}`);
      expect(statsResponse.parse(await answer.json()).from).toBe(`${day}T00:00:00.000Z`);
    }
  });
}

function refusals({ service, call, post }: Contract): void {
  test.each<[string, number, string, () => Promise<Response>]>([
    ["no token", 401, "UNAUTHORIZED", () => call("/events", { headers: { authorization: "" } })],
    ["a malformed token", 401, "UNAUTHORIZED", () => call("/events", { headers: { authorization: "Basic eDp5" } })],
    ["an unknown token", 401, "UNAUTHORIZED", () => call("/events", { headers: { authorization: "Bearer ad_no" } })],
    ["another bot", 403, "FORBIDDEN", () => post("/codes", { bot_id: "42", user_tg_id: "42" })],
    ["a number as an id", 400, "BAD_REQUEST", () => post("/codes", { bot_id: service().botId, user_tg_id: 42 })],
    ["a leading zero", 400, "BAD_REQUEST", () => post("/codes", { bot_id: service().botId, user_tg_id: "042" })],
    ["no user", 400, "BAD_REQUEST", () => post("/codes", { bot_id: service().botId })],
    [
      "a long reference",
      400,
      "BAD_REQUEST",
      () => post("/codes", { bot_id: service().botId, user_tg_id: "42", reference: "x".repeat(129) }),
    ],
    ["malformed JSON", 400, "BAD_REQUEST", () => post("/codes", "{")],
    ["a list as the body", 400, "BAD_REQUEST", () => post("/codes", "[]")],
    [
      "plain text",
      415,
      "",
      () => call("/codes", { method: "POST", body: "{}", headers: { "content-type": "text/plain" } }),
    ],
    ["a body of 2 MB", 413, "", () => post("/codes", { bot_id: "x".repeat(2_000_000) })],
    ["another method", 405, "METHOD_NOT_ALLOWED", () => call("/codes", { method: "DELETE" })],
    ["an unknown path", 404, "NOT_FOUND", () => call("/nothing")],
    ["an unknown code", 404, "NOT_FOUND", () => call("/codes/unknown")],
    ["a user of letters", 400, "BAD_REQUEST", () => call("/availability?user_tg_id=ann")],
    ["a cursor of letters", 400, "BAD_REQUEST", () => call("/events?after=letters")],
    ["the latest behind a cursor", 400, "BAD_REQUEST", () => call("/events?latest=1&after=letters")],
    ["none of the latest", 400, "BAD_REQUEST", () => call("/events?latest=0")],
    ["a page of 0", 400, "BAD_REQUEST", () => call("/events?limit=0")],
    ["a page of 1001", 400, "BAD_REQUEST", () => call("/events?limit=1001")],
    ["a day that does not exist", 400, "BAD_REQUEST", () => call("/stats?from=2026-02-30")],
    ["a Unix time", 400, "BAD_REQUEST", () => call("/stats?from=1804000000")],
    ["a date-time without an offset", 400, "BAD_REQUEST", () => call("/stats?to=2026-02-28T08:00:00")],
    ["an end before the start", 400, "BAD_REQUEST", () => call("/stats?from=2026-02-02&to=2026-02-01")],
    ["an unknown event", 404, "NOT_FOUND", () => post("/events/evt_unknown/redeliver")],
    ["the attempts of an unknown event", 404, "NOT_FOUND", () => call("/events/evt_unknown/attempts")],
    ["an unknown event type", 400, "BAD_REQUEST", () => post("/webhook/test", { event: "other" })],
    ["a tester who is not listed", 400, "NOT_A_TESTER", () => post("/webhook/test", { user_tg_id: "42" })],
  ])("%s is answered %d with the error body", async (_name, status, code, send) => {
    const answer = await send();
    const { error } = errorEnvelope.strict().parse(await answer.json());
    expect(answer.status).toBe(status);
    expect(error.code).toMatch(code === "" ? /^[A-Z][A-Z_]+$/ : new RegExp(`^${code}$`));
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });

  test("each answer says what is left of the rate limits", async () => {
    const { headers } = await call("/events");
    expect(headers.get("ratelimit-policy")).toMatch(/"token";q=\d+;w=\d+/);
    expect(headers.get("ratelimit")).toMatch(/"token";r=\d+/);
  });
}
