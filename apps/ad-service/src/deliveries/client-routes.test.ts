import {
  errorEnvelope,
  listAttemptsResponse,
  redeliverEventResponse,
  testWebhookResponse,
} from "@intermission/ad-core/client-api";
import { verify } from "@intermission/ad-core/signature";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bearer, type ClientFixture, expectError, openClientFixture } from "../../test/fixtures/client-fixture.ts";
import {
  eventually,
  openDeliveryFixture,
  openTestEndpoint,
  startTestDelivery,
  type TestEndpoint,
} from "../../test/fixtures/delivery-fixture.ts";
import { updateBot } from "../bots/change-bot.ts";

describe("what a publisher can do about webhooks", () => {
  let fixture: ClientFixture;
  let endpoint: TestEndpoint;
  let bot: Awaited<ReturnType<typeof openDeliveryFixture>>;

  beforeAll(async () => {
    // The key with which the delivery fixture seals its tokens.
    const encryptionKey = Buffer.alloc(32, 7);
    const requests = {
      isPlainHttpAllowed: true,
      allowedNetworks: { webhook: ["127.0.0.0/8"], vast: [], video: [], buyer: [] },
    };
    fixture = await openClientFixture({ encryptionKey, requests });
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    endpoint = await openTestEndpoint();
    bot = await openDeliveryFixture(fixture.database, { webhookUrl: endpoint.url });
  });
  afterEach(() => endpoint.close());

  const post = (path: string, body?: object, token = bot.token) =>
    fetch(`${fixture.address}/client/v1${path}`, {
      method: "POST",
      headers: { ...bearer(token), ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const tested = async (body?: object) => {
    const response = await post("/webhook/test", body);
    expect(response.status).toBe(200);
    return testWebhookResponse.strict().parse(await response.json());
  };
  const messageOf = async (response: Response) => errorEnvelope.parse(await response.clone().json()).error.message;

  describe("a test", () => {
    test("sends one signed event that rewards no user, reports the response, and activates the endpoint", async () => {
      await bot.setEndpoint({ state: "pending" });
      const answer = await tested();
      const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = endpoint.received;
      expect(endpoint.received).toHaveLength(1);
      expect(verify(body, endpoint.received[0]?.headers["x-signature"], [bot.token])).toBe(true);
      expect(headers).toMatchObject({ "webhook-id": answer.event_id });
      expect(JSON.parse(body.toString())).toMatchObject({ event: "rewarded", user_tg_id: "0", test: true });
      expect(answer).toMatchObject({ delivered: true, status: 200, answer: "thanks", endpoint: "active" });
    });

    test("can send the other event, for a listed tester", async () => {
      await updateBot(fixture.bots, { botId: bot.botId, settings: { testers: ["42"] }, now: new Date() });
      await tested({ event: "direct_link", user_tg_id: "42" });
      expect(JSON.parse(endpoint.received[0]?.body.toString() ?? "")).toMatchObject({
        event: "direct_link",
        user_tg_id: "42",
        test: true,
      });
    });

    test("carries a code of the tester, with its reference, and the code earns nothing", async () => {
      await updateBot(fixture.bots, { botId: bot.botId, settings: { testers: ["42"] }, now: new Date() });
      const issue = async (userId: string) => {
        const made = await post("/codes", { bot_id: bot.botId, user_tg_id: userId, reference: "trigger" });
        return String(((await made.json()) as { code: unknown }).code);
      };
      const code = await issue("42");
      await tested({ user_tg_id: "42", code });
      const sent = JSON.parse(endpoint.received[0]?.body.toString() ?? "");
      expect(sent).toMatchObject({ user_tg_id: "42", code, reference: "trigger", test: true });
      expect(await (await fixture.get(`/codes/${code}`, bearer(bot.token))).json()).toMatchObject({ earned: [] });
      const foreign = await issue("43");
      for (const other of [foreign, "unknown", "\0"])
        await expectError(await post("/webhook/test", { user_tg_id: "42", code: other }), 400, "BAD_REQUEST");
    });

    test("that the endpoint refuses is not an error of the service: it reports the endpoint's response", async () => {
      endpoint.answer = (response) => response.writeHead(401).end("bad signature");
      await bot.setEndpoint({ state: "pending" });
      expect(await tested()).toMatchObject({
        delivered: false,
        status: 401,
        answer: "bad signature",
        endpoint: "pending",
      });
    });

    test("that cannot reach the endpoint reports why", async () => {
      await bot.moveTo("http://127.0.0.1:9/hook");
      const answer = await tested();
      expect(answer).toMatchObject({ delivered: false, error_class: "refused" });
      expect(answer.status).toBeUndefined();
    });

    test("without an endpoint, for a user who is no tester, of an unknown event, or beside another is refused", async () => {
      await expectError(await post("/webhook/test", { user_tg_id: "43" }), 400, "NOT_A_TESTER");
      await expectError(await post("/webhook/test", { event: "paid" }), 400, "BAD_REQUEST");
      await expectError(await post("/webhook/test", { user_tg_id: 42 }), 400, "BAD_REQUEST");
      expect(endpoint.received).toEqual([]);
      endpoint.answer = (response) => void setTimeout(() => response.end(), 300);
      const both = await Promise.all([post("/webhook/test"), post("/webhook/test")]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      await bot.moveTo(null);
      await expectError(await post("/webhook/test"), 409, "NO_ENDPOINT");
      await expectError(await post("/webhook/test", {}, "ad_nobody"), 401, "UNAUTHORIZED");
    });
  });

  describe("an event", () => {
    test("is sent again with the same id and bytes", async () => {
      const [eventId = ""] = await bot.enqueue();
      const sender = startTestDelivery(fixture.database);
      try {
        const isDelivered = () => eventually(bot.deliveries, ([row]) => row?.state === "delivered");
        await isDelivered();
        const response = await post(`/events/${eventId}/redeliver`);
        expect(response.status).toBe(202);
        expect(redeliverEventResponse.strict().parse(await response.json())).toEqual({
          event_id: eventId,
          delivery: "waiting",
        });
        await eventually(
          () => endpoint.received.length,
          (count) => count === 2,
        );
        await isDelivered();
        expect(endpoint.received[1]?.body).toEqual(endpoint.received[0]?.body);
        expect(endpoint.received[1]?.headers["webhook-id"]).toBe(eventId);
      } finally {
        await sender.stop();
      }
    });

    test("shows its attempts, with the answers and what to check, to its own publisher only", async () => {
      const [eventId = ""] = await bot.enqueue();
      endpoint.answer = (response) => response.writeHead(404).end("no such route");
      const attemptsOf = async (token = bot.token) =>
        fixture.get(`/events/${eventId}/attempts`, { authorization: `Bearer ${token}` });
      const read = async () => listAttemptsResponse.strict().parse(await (await attemptsOf()).json());
      expect(await read()).toMatchObject({ event_id: eventId, delivery: "waiting", attempts: [] });
      const sender = startTestDelivery(fixture.database);
      try {
        const shown = await eventually(
          read,
          ({ attempts, delivery }) => attempts.length === 1 && delivery === "waiting",
        );
        expect(shown).toMatchObject({ delivery: "waiting", next_attempt_at: expect.any(String) });
        expect(shown.explanation).toMatch(/next attempt is due at|nothing is sent to it until/);
        expect(shown.attempts[0]).toMatchObject({
          attempt: 1,
          url: endpoint.url,
          status: 404,
          answer: "no such route",
        });
        expect(shown.attempts[0]?.advice).toMatch(/compare the webhook address with your route/);
      } finally {
        await sender.stop();
      }
      const other = await openDeliveryFixture(fixture.database, { webhookUrl: endpoint.url });
      await expectError(await attemptsOf(other.token), 404, "NOT_FOUND");
      await expectError(await fixture.get("/events/%00/attempts", bearer(bot.token)), 404, "NOT_FOUND");
    });

    test("of another bot, or an unknown one, is 404", async () => {
      const other = await openDeliveryFixture(fixture.database, { webhookUrl: endpoint.url });
      const [eventId = ""] = await other.enqueue();
      await expectError(await post(`/events/${eventId}/redeliver`), 404, "NOT_FOUND");
      await expectError(await post("/events/evt_none/redeliver"), 404, "NOT_FOUND");
      await expectError(await post("/events/%00/redeliver"), 404, "NOT_FOUND");
      expect(await other.deliveries()).toMatchObject([{ state: "waiting", resume_state: null }]);
    });

    test("that is held is 409 with the reason and the remedy", async () => {
      await bot.setEndpoint({ state: "disabled", disabled_reason: "failing" });
      const [eventId = ""] = await bot.enqueue();
      const disabled = await post(`/events/${eventId}/redeliver`);
      expect(await messageOf(disabled)).toMatch(/disabled because it accepted nothing for five days.*enable/);
      await expectError(disabled, 409, "HELD");
      await bot.setEndpoint({ state: "pending" });
      const pending = await post(`/events/${eventId}/redeliver`);
      expect(await messageOf(pending)).toContain("POST /client/v1/webhook/test");
      await expectError(pending, 409, "HELD");
      expect(await bot.deliveries()).toMatchObject([{ state: "held" }]);
    });

    test("whose webhook is no longer kept is 410, as are its attempts; another bot's stays 404", async () => {
      const [eventId = ""] = await bot.enqueue();
      for (const table of ["deliveries", "event_bodies"])
        await fixture.database.run({ name: "", text: `delete from ${table} where event_id = $1` }, [eventId]);
      const answer = await post(`/events/${eventId}/redeliver`);
      expect(await messageOf(answer)).toContain("GET /client/v1/events still lists the event");
      await expectError(answer, 410, "NOT_KEPT");
      await expectError(await fixture.get(`/events/${eventId}/attempts`, bearer(bot.token)), 410, "NOT_KEPT");
      const other = await openDeliveryFixture(fixture.database, {});
      await expectError(await fixture.get(`/events/${eventId}/attempts`, bearer(other.token)), 404, "NOT_FOUND");
    });

    test("that is being sent is 409", async () => {
      const [eventId = ""] = await bot.enqueue();
      let answer: (() => void) | undefined;
      endpoint.answer = (response) => {
        answer = () => response.end();
      };
      const sender = startTestDelivery(fixture.database);
      try {
        await eventually(
          () => answer !== undefined,
          (hasArrived) => hasArrived,
        );
        await expectError(await post(`/events/${eventId}/redeliver`), 409, "UNDER_WAY");
      } finally {
        answer?.();
        await sender.stop();
      }
    });
  });

  test("the OpenAPI document describes both", async () => {
    const document: unknown = await (await fixture.get("/openapi.json", {})).json();
    expect(document).toMatchObject({
      paths: {
        "/events/{event_id}/redeliver": { post: { responses: { "202": {}, "404": {}, "409": {}, "410": {} } } },
        "/webhook/test": { post: { responses: { "200": {}, "409": {} } } },
      },
    });
  });
});
