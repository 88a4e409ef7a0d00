import { refusalBody } from "@intermission/ad-core/webhook-refusal";
import { createServerDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";
import { eventually, openTestEndpoint, type TestEndpoint } from "./fixtures/delivery-fixture.ts";
import { newAddress } from "./fixtures/direct-link-fixture.ts";

describe("webhooks on the command line, with a server", () => {
  let fixture: CliFixture;
  let server: Awaited<ReturnType<CliFixture["startServer"]>>;
  let database: Awaited<ReturnType<typeof createServerDatabase>>;
  let endpoint: TestEndpoint;
  let env: NodeJS.ProcessEnv = {};

  beforeAll(async () => {
    fixture = await openCliFixture();
    database = await createServerDatabase();
    const networks = { WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8", TRUST_PROXY: "loopback" };
    server = await fixture.startServer({ ...networks, DATABASE_URL: database.url });
    if (server.child.exitCode !== null) throw new Error((await server.end).err);
    // Without a socket in the data folder, the environment names the server.
    env = { ADS_URL: fixture.address, OPERATOR_TOKEN: fixture.operatorToken };
    const campaign = ["--name", "Shop", "--advertiser", "Acme", "--format", "direct_link"];
    await ads("campaigns", "add", ...campaign, "--landing-url", "https://example.com/");
  });
  afterAll(async () => {
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
    await database.drop();
    await fixture.close();
  });
  beforeEach(async () => {
    endpoint = await openTestEndpoint();
  });
  afterEach(() => endpoint.close());

  const ads = (...words: string[]) => fixture.ads(words, env);
  const json = async (...words: string[]) => JSON.parse((await ads(...words, "--json")).out);
  const answerWith = (status: number, text = "") => {
    endpoint.answer = (response) => response.writeHead(status).end(text);
  };
  const stateOf = async (eventId: string) => (await json("deliveries", "show", eventId)).state;
  const becomes = (eventId: string, state: string) =>
    eventually(
      () => stateOf(eventId),
      (now) => now === state,
      20_000,
    );

  /** A bot whose endpoint has answered its test. At most once, so that a single refusal ends a delivery. */
  async function newBot() {
    const botId = newTelegramId();
    const settings = ["--webhook-url", endpoint.url, "--delivery-mode", "at-most-once", "--cooldown", "0"];
    const { token } = await json("bots", "add", "--bot-id", botId, "--name", "Coin Garden", ...settings);
    await eventually(
      () => json("endpoints", "show", botId),
      ({ state }) => state === "active",
      20_000,
    );
    return { botId, token };
  }

  /** A user follows a direct link, which earns an event of the bot. */
  async function earn({ botId, token }: { botId: string; token: string }): Promise<string> {
    const response = await fetch(`${fixture.address}/client/v1/codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ bot_id: botId, user_tg_id: newTelegramId() }),
    });
    const { code } = (await response.json()) as { code: string };
    const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en", "x-forwarded-for": newAddress() };
    const followed = await fetch(`${fixture.address}/${code}`, { redirect: "manual", headers });
    expect(followed.status).toBe(302);
    const find = async (): Promise<{ event_id: string } | undefined> => {
      const { events } = await json("events", "list", "--bot-id", botId);
      return events.find((one: { code?: string }) => one.code === code);
    };
    // Listed once every older transaction has ended, including those of other tests on the same server.
    const event = await eventually(find, (found) => found !== undefined, 20_000);
    return event?.event_id ?? "";
  }

  test("a test shows the answer, the duration of each phase, and the next step", async () => {
    const { botId } = await newBot();
    const good = await ads("endpoints", "test", botId);
    expect(good).toMatchObject({ code: 0, err: "" });
    expect(good.out).toMatch(/^status +200$/m);
    expect(good.out).toMatch(/^totalMs +\d/m);
    endpoint.probeStatus = 200;
    answerWith(200, "<!doctype html><title>Home</title>");
    const doubtful = await ads("endpoints", "test", botId);
    expect(doubtful).toMatchObject({ code: 0, out: expect.stringMatching(/^warning: .*web page.*wrong signature/m) });
    expect((await ads("endpoints", "list")).out).toMatch(/^ {2}warning: it answers with a web page/m);
    answerWith(401, "who \u001b[31mare you?");
    const bad = await ads("endpoints", "test", botId, "--event", "direct_link");
    expect(bad).toMatchObject({ code: 1, err: expect.stringMatching(/not answered 2xx: .*token/) });
    expect(bad.out).toMatch(/^answer +who .\[31mare you\?$/m);
    expect(bad.out).not.toContain("\u001b");
    expect(JSON.parse(endpoint.received.at(-1)?.body.toString() ?? "")).toMatchObject({ event: "direct_link" });
    answerWith(401, JSON.stringify(refusalBody({ fault: "stale", seconds: 601 })));
    const late = await ads("endpoints", "test", botId);
    expect(late).toMatchObject({ code: 1, err: expect.stringMatching(/601 s ago by the clock of its machine.*NTP/) });
    expect(late.err).not.toMatch(/token|raw bytes/);
    const nobody = await ads("endpoints", "test", botId, "--user-id", "77");
    expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining("--tester") });
  });

  test("a failed delivery is listed, explained with each attempt, and replayed by its id", async () => {
    const bot = await newBot();
    answerWith(500, "out of coins");
    const eventId = await earn(bot);
    await becomes(eventId, "failed");
    const list = await ads("deliveries", "list", "--bot-id", bot.botId, "--state", "failed");
    expect(list.out).toMatch(new RegExp(`^${eventId} +${bot.botId} +direct_link .* failed`, "m"));
    const shown = await ads("deliveries", "show", eventId);
    expect(shown.out).toMatch(/^why +it was not answered 2xx.*deliveries replay evt_/m);
    expect(shown.out).toMatch(/^1 .* 500 .* 127\.0\.0\.1/m);
    expect(shown.out).toMatch(/^advice +it says .*out of coins.*; it failed: look at its own log$/m);
    expect(shown.out).toContain("answer: out of coins");
    expect(shown.out).toContain(`to: ${endpoint.url}`);
    answerWith(204);
    expect(await ads("deliveries", "replay", eventId)).toMatchObject({ code: 0, err: "" });
    await becomes(eventId, "delivered");
    const sent = endpoint.received.filter(({ headers }) => headers["webhook-id"] === eventId);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.body).toEqual(sent[0]?.body);
  });

  test("failed deliveries are counted first, and replayed after confirmation", async () => {
    const bot = await newBot();
    answerWith(500);
    const eventIds = [await earn(bot), await earn(bot), await earn(bot)];
    for (const eventId of eventIds) await becomes(eventId, "failed");
    answerWith(200);
    const words = ["deliveries", "replay", "--bot-id", bot.botId, "--failed-since", "1h"];
    const counted = await ads(...words);
    expect(counted).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^ads: 3 would be sent again.*--yes/),
    });
    expect(await stateOf(eventIds[0] ?? "")).toBe("failed");
    expect(await ads(...words, "--yes")).toMatchObject({ code: 0, out: expect.stringMatching(/^3 are sent again/) });
    for (const eventId of eventIds) await becomes(eventId, "delivered");
    expect(await json(...words)).toMatchObject({ replayed: 0, unknown: 0 });
    const everything = await ads("deliveries", "replay", "--bot-id", bot.botId, "--everything-since", "1h");
    expect(everything).toMatchObject({ code: 1, err: expect.stringContaining("at most once") });
  });

  test("a disabled endpoint is reported everywhere, with the command that enables it", async () => {
    const bot = await newBot();
    expect(await ads("endpoints", "disable", bot.botId)).toMatchObject({ code: 0, err: "" });
    const eventId = await earn(bot);
    expect(await stateOf(eventId)).toBe("held");
    const undo = expect.stringContaining(`endpoints enable ${bot.botId}`);
    expect((await ads("endpoints", "list")).out).toEqual(undo);
    expect((await ads("deliveries", "show", eventId)).out).toEqual(undo);
    expect(await ads("deliveries", "replay", eventId)).toMatchObject({ code: 1, err: undo });
    expect(await ads("endpoints", "disable", bot.botId)).toMatchObject({ code: 1, err: undo });
    expect(await ads("endpoints", "enable", bot.botId)).toMatchObject({ code: 0 });
    await becomes(eventId, "delivered");
    expect(await ads("endpoints", "enable", bot.botId)).toMatchObject({
      code: 1,
      err: expect.stringContaining("active"),
    });
  });

  test("the list of endpoints fits 120 columns and shows each fault", async () => {
    const bot = await newBot();
    const long = `http://127.0.0.1:9/${"hook/".repeat(60)}`;
    expect(await ads("bots", "update", bot.botId, "--webhook-url", long, "--name", "n".repeat(100))).toMatchObject({
      code: 0,
    });
    await eventually(
      () => json("endpoints", "show", bot.botId),
      ({ lastErrorClass }) => lastErrorClass === "refused",
      20_000,
    );
    expect(JSON.parse((await ads("endpoints", "set", bot.botId, "--max-in-flight", "40", "--json")).out)).toMatchObject(
      {
        maxInFlight: 40,
      },
    );
    expect(await ads("endpoints", "set", bot.botId, "--max-in-flight", "41")).toMatchObject({ code: 1 });
    const { out } = await ads("endpoints", "list");
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(out).toMatch(new RegExp(`^${bot.botId} +n+… +pending +closed +0 of 40`, "m"));
    expect(out).toMatch(/last failure .*: refused/);
  });

  test.each([
    ["neither an event nor a bot", ["replay"]],
    ["an event and a bot", ["replay", "evt_1", "--bot-id", "7", "--failed-since", "1h"]],
    ["both kinds at once", ["replay", "--bot-id", "7", "--failed-since", "1h", "--everything-since", "1h"]],
    ["a bot without a time", ["replay", "--bot-id", "7"]],
    ["an invalid time", ["replay", "--bot-id", "7", "--failed-since", "yesterday"]],
  ])("%s is wrong usage of replay", async (_name, words) => {
    expect(await ads("deliveries", ...words)).toMatchObject({ code: 2, out: "" });
  });

  test("an unknown bot or event is reported", async () => {
    const unknownBot = { code: 1, err: expect.stringContaining("there is no bot 5") };
    for (const verb of ["show", "enable", "disable", "test"]) {
      expect(await ads("endpoints", verb, "5")).toMatchObject(unknownBot);
    }
    expect(await ads("deliveries", "replay", "--bot-id", "5", "--failed-since", "1h")).toMatchObject(unknownBot);
    expect(await ads("deliveries", "replay", "evt_0")).toMatchObject({
      code: 1,
      err: expect.stringContaining("evt_0"),
    });
  });
});

test("without a server an endpoint can still be tested", { tags: "long" }, async () => {
  const fixture = await openCliFixture();
  const endpoint = await openTestEndpoint();
  const botId = newTelegramId();
  const env = { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey, WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8" };
  try {
    await fixture.makeStore();
    await fixture.adsProcess(["bots", "add", "--bot-id", botId, "--webhook-url", endpoint.url], env);
    const tested = await fixture.adsProcess(["endpoints", "test", botId], env);
    expect(tested).toMatchObject({ code: 0, out: expect.stringMatching(/^endpointState +active$/m) });
    expect(endpoint.received).toHaveLength(1);
  } finally {
    await endpoint.close();
    await fixture.close();
  }
});
