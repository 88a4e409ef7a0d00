import { createServer as createTcpServer } from "node:net";
import { verify } from "@intermission/ad-core/signature";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  eventually,
  openDeliveryFixture,
  openTestEndpoint,
  startedDeliveries,
  type TestEndpoint,
  testSecretBox,
} from "../../test/fixtures/delivery-fixture.ts";
import { signingTokens } from "../bots/tokens.ts";
import type { FinishedAttempt } from "../deliveries/attempt-delivery.ts";
import { claimDeliveries } from "../deliveries/claim-deliveries.ts";
import { disableEndpoint, enableEndpoint } from "../deliveries/endpoints.ts";
import { finishDeliveries } from "../deliveries/record-attempts.ts";
import { migrations } from "../migrations.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import type { NoticeSettings } from "./messages.ts";
import { listNoticeReceivers, type NoticeAddresses, setNoticeReceivers } from "./receivers.ts";
import { startSendingNotices } from "./send-notices.ts";

const waiting = statement<{ channel: string; health: string; changes: number; attempts: number }>(
  "test.notices",
  "select channel, health, changes, attempts from notices where bot_id = $1 order by channel",
);
const endQuiet = statement<never>(
  "test.end-quiet",
  `with receivers as (update notice_receivers set quiet_until = now() where bot_id = $1)
  update notices set due_at = now() where bot_id = $1`,
);
const silent = { smtpUrl: undefined, smtpFrom: undefined, telegramBotToken: undefined, telegramApiUrl: "" };

describe("notices of endpoints", () => {
  let store: TestDatabase;
  let receiver: TestEndpoint;
  const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { webhook: ["127.0.0.0/8"] } });
  const logged: { facts: object; message: string }[] = [];
  const log = (facts: object, message: string) => void logged.push({ facts, message });
  let sending: ReturnType<typeof startSendingNotices> | undefined;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(async () => {
    await requests.close();
    await store.dispose();
  });
  beforeEach(async () => {
    receiver = await openTestEndpoint();
    logged.length = 0;
  });
  afterEach(async () => {
    await sending?.stop();
    sending = undefined;
    await receiver.close();
  });

  const tokensOf = async (botId: string) =>
    (
      await signingTokens({ secretBox: testSecretBox, database: store.database }, { botIds: [botId], now: new Date() })
    ).get(botId);

  function startSending(settings: Partial<NoticeSettings> = {}) {
    sending = startSendingNotices({
      database: store.database,
      tokensOf,
      requests,
      settings: { ...silent, ...settings },
      log: { warn: log, error: log },
      everyMs: 20,
      now: () => new Date(),
    });
  }

  async function botWith(addresses: NoticeAddresses) {
    const fixture = await openDeliveryFixture(store.database, { webhookUrl: "http://127.0.0.1:9/hook" });
    const set = await setNoticeReceivers(store.database, { botId: fixture.botId, addresses });
    expect(set.outcome).toBe("set");
    const deps = { database: store.database, deliveries: startedDeliveries(store.database) };
    return {
      ...fixture,
      /** Attempts that the endpoint of events answers with this status. */
      async attempt(status: number, count = 1, answerWarning: FinishedAttempt["answerWarning"] = null) {
        await fixture.setEndpoint({ max_in_flight: 40 });
        await fixture.enqueue(count);
        const claims = await claimDeliveries(store.database, { limit: count, leaseSeconds: 30 });
        expect(claims).toHaveLength(count);
        const group = finishDeliveries(store.database, () => {});
        await Promise.all(
          claims.map((claim) =>
            group.submit({
              ...claim,
              state: "failed",
              endReason: "attempts-used-up",
              delaySeconds: null,
              backoffSeconds: null,
              isSuccess: status < 300,
              answerWarning,
              startedAt: new Date(),
              address: null,
              status,
              errorClass: null,
              dnsMs: null,
              tcpMs: null,
              tlsMs: null,
              firstByteMs: 1,
              totalMs: 1,
              responseText: "",
            }),
          ),
        );
      },
      fail: async function fail() {
        await this.attempt(500, 10);
      },
      recover: async function recover() {
        await fixture.setEndpoint({ breaker: "half-open", probe_at: Number.NEGATIVE_INFINITY, probe_successes: 2 });
        await this.attempt(200);
      },
      disable: () => disableEndpoint(store.database, { botId: fixture.botId }),
      enable: () => enableEndpoint(deps, { botId: fixture.botId, skipTest: true }),
      notices: () => store.database.run(waiting, [fixture.botId]),
      receivers: () => listNoticeReceivers(store.database, fixture.botId),
      endQuiet: () => store.database.run(endQuiet, [fixture.botId]),
    };
  }
  const bodies = () => receiver.received.map(({ body }) => JSON.parse(body.toString()));

  test("an endpoint that fails, recovers, is disabled and enabled sends a signed notice of each to the second address", async () => {
    const bot = await botWith({ webhook: receiver.url });
    startSending();
    const steps = [bot.fail.bind(bot), bot.recover.bind(bot), bot.disable, bot.enable];
    for (const [index, step] of steps.entries()) {
      await step();
      await bot.endQuiet();
      await eventually(
        () => receiver.received.length,
        (count) => count === index + 1,
      );
      await eventually(bot.notices, (rows) => rows.length === 0);
    }
    const common = { event: "endpoint_health", bot_id: bot.botId, changes: 1, webhook_url: "http://127.0.0.1:9/hook" };
    expect(bodies()).toMatchObject([
      { ...common, health: "failing", last_status: 500 },
      { ...common, health: "recovered" },
      { ...common, health: "disabled", reason: "operator" },
      { ...common, health: "recovered" },
    ]);
    for (const { headers, body } of receiver.received) {
      expect(verify(body, headers["x-signature"], [bot.token])).toBe(true);
      expect(headers).toMatchObject({ "x-bot-id": bot.botId, "webhook-id": JSON.parse(body.toString()).event_id });
    }
  });

  test("an endpoint that answers 2xx with a web page is noticed once, and once more when it answers as a receiver", async () => {
    const bot = await botWith({ webhook: receiver.url });
    startSending();
    for (const [warning, health] of [
      ["html-answer", "doubtful"],
      [null, "recovered"],
    ] as const) {
      await bot.attempt(200, 2, warning);
      await bot.attempt(200, 1, warning);
      await eventually(bodies, (all) => all.at(-1)?.health === health);
      await eventually(bot.notices, (rows) => rows.length === 0);
      await bot.endQuiet();
    }
    expect(bodies()).toMatchObject([
      { health: "doubtful", reason: "html-answer", changes: 1 },
      { health: "recovered", changes: 1 },
    ]);
  });

  test("a bot without addresses, or whose probes fail, makes no notice", async () => {
    const none = await botWith({});
    await none.fail();
    expect(await none.notices()).toEqual([]);
    const bot = await botWith({ webhook: receiver.url });
    await bot.fail();
    await bot.setEndpoint({ breaker: "half-open", probe_at: Number.NEGATIVE_INFINITY });
    await bot.attempt(500);
    expect(await bot.notices()).toMatchObject([{ health: "failing", changes: 1 }]);
  });

  test("a flapping endpoint is summed up: one notice, and after the quiet time one for all changes", async () => {
    const bot = await botWith({ webhook: receiver.url });
    startSending();
    await bot.fail();
    await eventually(bot.notices, (rows) => rows.length === 0);
    for (let round = 0; round < 3; round++) {
      await bot.recover();
      await bot.fail();
    }
    await bot.recover();
    expect(await bot.notices()).toMatchObject([{ health: "recovered", changes: 7, attempts: 0 }]);
    expect(receiver.received).toHaveLength(1);
    await bot.endQuiet();
    await eventually(bot.notices, (rows) => rows.length === 0);
    expect(bodies()).toMatchObject([
      { health: "failing", changes: 1 },
      { health: "recovered", changes: 7 },
    ]);
  });

  test("what changes while a notice is sent is the next notice, after the quiet time", async () => {
    const bot = await botWith({ webhook: receiver.url });
    let answer = () => {};
    receiver.answer = (response) => {
      answer = () => response.end();
    };
    startSending();
    await bot.fail();
    await eventually(
      () => receiver.received.length,
      (count) => count === 1,
    );
    await bot.recover();
    answer();
    await eventually(bot.notices, ([row]) => row?.changes === 1 && row.attempts === 0);
    expect(await bot.notices()).toMatchObject([{ health: "recovered" }]);
    expect(receiver.received).toHaveLength(1);
  });

  test("a notice that is refused is sent again with the same id, six times at most, and then given up", async () => {
    const bot = await botWith({ webhook: receiver.url });
    receiver.answer = (response) => response.writeHead(500).end();
    startSending();
    await bot.fail();
    for (let attempt = 1; attempt <= 6; attempt++) {
      await eventually(
        () => logged.length,
        (count) => count === attempt,
      );
      await bot.endQuiet();
    }
    expect([await bot.notices(), receiver.received.length]).toEqual([[], 6]);
    expect(await bot.receivers()).toMatchObject([{ lastError: "status 500", lastSentAt: null }]);
    expect(new Set(bodies().map(({ event_id }) => event_id)).size).toBe(1);
    expect(logged.at(-1)?.message).toContain(`given up; see: notices show ${bot.botId}`);
  });

  test("a message goes by the operator's mail server, and by the Telegram bot", async () => {
    const mails: string[] = [];
    const smtp = createTcpServer((socket) => {
      let isData = false;
      socket.write("220 mail\r\n");
      socket.on("data", (chunk) => {
        const text = chunk.toString();
        mails.push(text);
        if (isData && text.endsWith("\r\n.\r\n")) isData = false;
        else if (isData) return;
        else if (text.startsWith("DATA")) isData = true;
        socket.write(isData ? "354 go on\r\n" : text.startsWith("QUIT") ? "221 bye\r\n" : "250 ok\r\n");
      });
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
    const address = smtp.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    receiver.answer = (response) => response.end("{}");
    const bot = await botWith({ email: "ops@example.com", telegram: "-100123" });
    startSending({
      smtpUrl: `smtp://127.0.0.1:${address.port}`,
      smtpFrom: "ads@example.com",
      telegramBotToken: "123456:test",
      telegramApiUrl: new URL(receiver.url).origin,
    });
    await bot.fail();
    await eventually(bot.notices, (rows) => rows.length === 0);
    const text = `The webhook address of bot ${bot.botId} is failing: http://127.0.0.1:9/hook`;
    expect(bodies()).toMatchObject([{ chat_id: "-100123", text: expect.stringContaining(text) }]);
    const mail = mails.join("").replaceAll("=\r\n", "");
    expect(mail).toContain("RCPT TO:<ops@example.com>");
    expect(mail).toContain(`Subject: Webhooks of bot ${bot.botId}: the address is failing`);
    expect(mail).toContain("Last failure: status 500.");
    await new Promise((resolve) => smtp.close(resolve));
  });

  test("a channel that this server has no settings for says which setting is missing", async () => {
    const bot = await botWith({ email: "ops@example.com", telegram: "1" });
    startSending();
    await bot.fail();
    await eventually(bot.receivers, (rows) => rows.every(({ lastError }) => lastError !== null));
    expect((await bot.receivers()).map(({ lastError }) => lastError)).toEqual([
      "SMTP_URL and SMTP_FROM are not set",
      "NOTICE_BOT_TOKEN is not set",
    ]);
  });

  test("the webhook of the events is refused, and an address that is removed is sent nothing", async () => {
    const bot = await botWith({ webhook: receiver.url });
    const addresses = { webhook: "http://127.0.0.1:9/hook" };
    const refused = await setNoticeReceivers(store.database, { botId: bot.botId, addresses });
    expect(refused.outcome).toBe("webhook-of-events");
    await bot.fail();
    await setNoticeReceivers(store.database, { botId: bot.botId, addresses: { webhook: null } });
    expect([await bot.notices(), await bot.receivers()]).toEqual([[], []]);
  });
});
