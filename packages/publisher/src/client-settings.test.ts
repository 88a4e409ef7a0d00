import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runInNewContext } from "node:vm";
import { freePort } from "@intermission/testing/free-port";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Ads, type AdsOptions, createAds } from "./create-ads.ts";
import { type CompanionOptions, createCompanion } from "./create-companion.ts";
import { fakeAdService } from "./testing/fake-ad-service.ts";

const telegramToken = "7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const operator = "the operator creates one: pnpm ads tokens create --bot-id <digits>";
const example = "the ad service's address, such as https://rewards.example.com";
const digits = "the digits before the colon of TELEGRAM_BOT_TOKEN";

// Each mistake with its exact message: what is wrong, where, and the next step.
test.each<[string, Record<string, unknown>, string]>([
  ["no url", { url: undefined }, `url (AD_SERVICE_URL) is missing: set it to ${example}`],
  ["an empty url", { url: "" }, `url (AD_SERVICE_URL) is missing: set it to ${example}`],
  ["a url of an unset variable", { url: "undefined" }, `url (AD_SERVICE_URL) is missing: set it to ${example}`],
  ["a url in quotes", { url: '"https://rewards.example.com"' }, "url (AD_SERVICE_URL) is in quotes: remove the quotes"],
  [
    "a url without a scheme",
    { url: "rewards.example.com" },
    "url (AD_SERVICE_URL) has no scheme: write https://rewards.example.com instead of rewards.example.com",
  ],
  [
    "a host with a port",
    { url: "localhost:8701" },
    "url (AD_SERVICE_URL) has no scheme: write http://localhost:8701 instead of localhost:8701",
  ],
  [
    "a scheme with one slash less than a URL has",
    { url: "https:rewards.example.com" },
    `url (AD_SERVICE_URL) is not an address: write ${example}`,
  ],
  [
    "another scheme",
    { url: "postgres://rewards.example.com" },
    `url (AD_SERVICE_URL) must begin with https:// or http://, and begins with postgres: write ${example}`,
  ],
  ["no host", { url: "https://" }, `url (AD_SERVICE_URL) is not an address: write ${example}`],
  ["a blank", { url: "https://ads example" }, `url (AD_SERVICE_URL) is not an address: write ${example}`],
  [
    "a password in the url",
    { url: "https://ann:secret@rewards.example.com" },
    "url (AD_SERVICE_URL) contains a user name or a password, which fetch refuses: remove everything before the @",
  ],
  [
    "a query",
    { url: "https://rewards.example.com/?a=1" },
    `url (AD_SERVICE_URL) contains ? or #: write only ${example}`,
  ],
  ["no token", { token: undefined }, `token (AD_API_TOKEN) is missing: set it to the bot's API token; ${operator}`],
  ["an empty token", { token: " " }, `token (AD_API_TOKEN) is missing: set it to the bot's API token; ${operator}`],
  ["no tokens", { token: [] }, `token (AD_API_TOKEN) is missing: set it to the bot's API token; ${operator}`],
  ["a token in quotes", { token: "'ad_one'" }, "token (AD_API_TOKEN) is in quotes: remove the quotes"],
  [
    "a second token in quotes",
    { token: ["ad_one", '"ad_two"'] },
    "token (AD_API_TOKEN) is in quotes: remove the quotes",
  ],
  [
    "a token with Bearer",
    { token: "Bearer ad_one" },
    'token (AD_API_TOKEN) begins with "Bearer": remove the word, the client adds it',
  ],
  [
    "the token of @BotFather",
    { token: telegramToken },
    `token (AD_API_TOKEN) is a token of @BotFather: it needs the bot's API token of the ad service, which begins with ad_ there; ${operator}`,
  ],
  [
    "the placeholder of an example",
    { token: "ad_…" },
    `token (AD_API_TOKEN) is the placeholder of an example: replace it with the bot's API token of the ad service, which begins with ad_ there; ${operator}`,
  ],
  [
    "two tokens in one",
    { token: "ad_one\nad_two" },
    "token (AD_API_TOKEN) contains a space, a line break or a character outside ASCII: copy it anew",
  ],
  ["no bot", { botId: undefined }, `botId (BOT_ID) is missing: set it to the bot's Telegram id, ${digits}`],
  ["an empty bot", { botId: "" }, `botId (BOT_ID) is missing: set it to the bot's Telegram id, ${digits}`],
  [
    "the whole token of @BotFather as the bot",
    { botId: telegramToken },
    `botId (BOT_ID) contains a whole token of @BotFather: pass only ${digits}`,
  ],
  ["a username", { botId: "@coins_bot" }, `botId (BOT_ID) is a username: pass the bot's Telegram id, ${digits}`],
  ["a fraction", { botId: 7.5 }, `botId (BOT_ID) must be the bot's Telegram id, ${digits}; it is "7.5"`],
  [
    "a timeout with its unit",
    { timeoutMs: "10s" },
    'timeoutMs must be a whole number of milliseconds from 1 to 2147483647; it is "10s"',
  ],
  ["no time", { timeoutMs: 0 }, "timeoutMs must be a whole number of milliseconds from 1 to 2147483647; it is 0"],
  [
    "a timeout of an unset variable",
    { timeoutMs: Number.NaN },
    "timeoutMs must be a whole number of milliseconds from 1 to 2147483647; it is NaN",
  ],
  ["retries as text", { retries: "two" }, 'retries must be a whole number from 0 to 2147483647; it is "two"'],
  ["less than no retries", { retries: -1 }, "retries must be a whole number from 0 to 2147483647; it is -1"],
  ["a negative number", { botId: -7 }, `botId (BOT_ID) must be the bot's Telegram id, ${digits}; it is "-7"`],
])("createAds with %s says what is wrong, where, and the next step", (_mistake, options, message) => {
  const sound = { url: "https://rewards.example.com", token: "ad_one", botId: "7000000001" };
  const create = () => createAds({ ...sound, ...options } as unknown as AdsOptions);
  expect(create).toThrow(new TypeError(message));
  expect(message).not.toContain("AAHdq");
  expect(message).not.toContain("secret");
});

test.each<[string, Record<string, unknown>, string]>([
  [
    "no url",
    { url: undefined },
    "url (API_URL) is missing: set it to the companion API's address, such as https://rewards.example.com",
  ],
  [
    "a url without a scheme",
    { url: "127.0.0.1:8702" },
    "url (API_URL) has no scheme: write http://127.0.0.1:8702 instead of 127.0.0.1:8702",
  ],
  [
    "no key",
    { apiKey: "" },
    "apiKey (BACKEND_API_KEY) is missing: set it to the value that the companion API has as BACKEND_API_KEY",
  ],
  [
    "a key with Bearer",
    { apiKey: "Bearer key" },
    'apiKey (BACKEND_API_KEY) begins with "Bearer": remove the word, the client adds it',
  ],
  ["a key in quotes", { apiKey: '"key"' }, "apiKey (BACKEND_API_KEY) is in quotes: remove the quotes"],
])("createCompanion with %s says what is wrong, where, and the next step", (_mistake, options, message) => {
  const sound = { url: "https://api.example.com", apiKey: "key" };
  expect(() => createCompanion({ ...sound, ...options } as unknown as CompanionOptions)).toThrow(
    new TypeError(message),
  );
});

test.each([
  ["https://rewards.example.com", "https://rewards.example.com/client/v1/events"],
  [" https://rewards.example.com/\r\n", "https://rewards.example.com/client/v1/events"],
  ["https://rewards.example.com/client/v1", "https://rewards.example.com/client/v1/events"],
  ["https://rewards.example.com/client/v1/codes", "https://rewards.example.com/client/v1/events"],
  ["http://127.0.0.1:8701/ads//", "http://127.0.0.1:8701/ads/client/v1/events"],
  ["http://[::1]:8701/ads/client/v1/", "http://[::1]:8701/ads/client/v1/events"],
])("the url %j is called at %s", async (url, called) => {
  let address = "";
  const fetch = async (input: unknown) => {
    address = String(input);
    return Response.json({ events: [], next: "", has_more: false });
  };
  await createAds({ url, token: " ad_one\n", botId: 7000000001, fetch }).events();
  expect(address).toBe(called);
});

test.each<[string, unknown, string]>([
  [
    "no user",
    undefined,
    "userId is missing: pass the user's Telegram id, such as ctx.from.id; it is undefined for an update without a user",
  ],
  [
    "an empty id",
    "",
    "userId is missing: pass the user's Telegram id, such as ctx.from.id; it is undefined for an update without a user",
  ],
  ["a username", "@ann", 'userId "@ann" is a username: pass the user\'s Telegram id, such as ctx.from.id'],
  [
    "a name",
    "ann",
    'userId "ann" is not a Telegram id, which is digits: pass the user\'s Telegram id, such as ctx.from.id',
  ],
  [
    "the id of test events",
    0,
    'userId "0" is not a Telegram id, which is digits: pass the user\'s Telegram id, such as ctx.from.id',
  ],
  [
    "a number beyond those that are exact",
    2 ** 60,
    "userId 1152921504606847000 is a number that JavaScript cannot store exactly: pass its digits as text",
  ],
  [
    "NaN",
    Number.NaN,
    'userId "NaN" is not a Telegram id, which is digits: pass the user\'s Telegram id, such as ctx.from.id',
  ],
])("a call for %s says so, and is not sent", async (_mistake, userId, message) => {
  const fetch = vi.fn();
  const ads = createAds({ url: "https://rewards.example.com", token: "ad_one", botId: 7000000001, fetch });
  const companion = createCompanion({ url: "https://api.example.com", apiKey: "key", fetch });
  const [id, refused] = [userId as number, { code: "BAD_REQUEST", message }];
  await expect(ads.createCode({ userId: id })).rejects.toMatchObject(refused);
  await expect(ads.availability(id)).rejects.toMatchObject(refused);
  await expect(companion.createCode({ userId: id })).rejects.toMatchObject(refused);
  await expect(companion.balance(id)).rejects.toMatchObject(refused);
  await expect(companion.spend({ userId: id, amount: 1, idempotencyKey: "a" })).rejects.toMatchObject(refused);
  expect(fetch).not.toHaveBeenCalled();
});

test.each([
  [createAds, "the options are missing: createAds({ url, token, botId })"],
  [createCompanion, "the options are missing: createCompanion({ url, apiKey })"],
])("%o without options says which it needs", (create, message) => {
  expect(() => (create as (options?: unknown) => unknown)()).toThrow(new TypeError(message));
});

test.each<[string, (ads: Ads) => Promise<unknown>, string]>([
  [
    "a code for nothing",
    (ads) => ads.createCode(undefined as never),
    "createCode takes an object: createCode({ userId: ctx.from.id })",
  ],
  [
    "a code for a bare id",
    (ads) => ads.createCode(42 as never),
    "createCode takes an object: createCode({ userId: ctx.from.id })",
  ],
  [
    "a number as reference",
    (ads) => ads.createCode({ userId: 42, reference: 17 as never }),
    "reference is a number: pass text, String(17)",
  ],
  [
    "null as reference",
    (ads) => ads.createCode({ userId: 42, reference: null as never }),
    "reference is null: pass text, or leave it out",
  ],
  [
    "an object as reference",
    (ads) => ads.createCode({ userId: 42, reference: {} as never }),
    "reference is an object: pass text, or leave it out",
  ],
  [
    "an empty reference",
    (ads) => ads.createCode({ userId: 42, reference: "" }),
    "reference is empty: pass text, or leave it out",
  ],
  [
    "a long reference",
    (ads) => ads.createCode({ userId: 42, reference: "x".repeat(129) }),
    "reference has 129 characters: the contract allows 128; pass a key of your own that is shorter",
  ],
  [
    "no code",
    (ads) => ads.code(undefined as never),
    "code is missing: pass the code that createCode returned, or that of an event",
  ],
  [
    "a whole answer as code",
    (ads) => ads.code({ code: "ABCD" } as never),
    "code is an object, not text: pass the code that createCode returned, or that of an event",
  ],
  [
    "the attempts of no event",
    (ads) => ads.attempts(""),
    "eventId is missing: pass the eventId of an event, such as that of a webhook or of events()",
  ],
  [
    "a repeat of no event",
    (ads) => ads.redeliver(undefined as never),
    "eventId is missing: pass the eventId of an event, such as that of a webhook or of events()",
  ],
])("a call with %s says so, and is not sent", async (_mistake, act, message) => {
  const fetch = vi.fn();
  const ads = createAds({ url: "https://rewards.example.com", token: "ad_one", botId: 7000000001, fetch });
  await expect(act(ads)).rejects.toMatchObject({ code: "BAD_REQUEST", message });
  expect(fetch).not.toHaveBeenCalled();
});

test.each([
  [
    "http instead of https",
    "https://rewards.example.com/client/v1/codes",
    "redirects to https://rewards.example.com, which is not followed: set url to https://rewards.example.com",
  ],
  [
    "another host, below a path",
    "https://www.example.com/ads/client/v1/codes?session=secret",
    "redirects to https://www.example.com/ads, which is not followed: set url to https://www.example.com/ads",
  ],
  [
    "a sign-in page",
    "/login?next=/client",
    "redirects to {origin}/login, which is not followed: check the address and what stands in front of it, such as a sign-in page",
  ],
])("an address of %s is told, and the token stays with it", async (_mistake, location, message) => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(301, { location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const refused = {
    code: "UNEXPECTED_ANSWER",
    message: `the ad service at ${url} ${message.replace("{origin}", url)}`,
  };
  const ads = createAds({ url, token: "ad_one", botId: 7 });
  await expect(ads.createCode({ userId: 42 })).rejects.toMatchObject(refused);
  expect(seen).toEqual(["POST /client/v1/codes"]);
  await expect(createCompanion({ url, apiKey: "key" }).balance(42)).rejects.toThrow(
    `the companion API at ${url} redirects to`,
  );
});

test("user ids and bot ids may be numbers, as Telegram sends them; the wire has digits", async () => {
  const fake = fakeAdService();
  const ads = createAds({ url: fake.url, token: fake.token, botId: Number(fake.botId), fetch: fake.fetch });
  const { code } = await ads.createCode({ userId: 42 });
  expect(await ads.code(code)).toMatchObject({ user_tg_id: "42", bot_id: fake.botId });
  expect((await ads.createCode({ userId: "42" })).code).toBe(code);
  expect(await ads.availability(42)).toMatchObject({ isAvailable: true });
});

test("a server that does not run is named with its address and the innermost cause", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const cause = `did not answer: connect ECONNREFUSED ${url.slice(7)}; check the address and whether it runs there`;
  await expect(createAds({ url, token: "ad_one", botId: 7, retries: 0 }).events()).rejects.toMatchObject({
    code: "UNREACHABLE",
    message: `the ad service at ${url} ${cause}`,
  });
  await expect(createCompanion({ url, apiKey: "key", retries: 0 }).balance(42)).rejects.toMatchObject({
    code: "UNREACHABLE",
    message: `the companion API at ${url} ${cause}`,
  });
});

test("errors of another realm, as fetch has in Jest's tests, are read as those of this one", async () => {
  const foreign = runInNewContext(`({
    refused: new TypeError("fetch failed", { cause: new AggregateError([new Error("connect ECONNREFUSED ::1:9")]) }),
    late: Object.assign(new Error("late"), { name: "TimeoutError" }),
  })`) as { refused: Error; late: Error };
  const messageOf = async (error: Error) => {
    const fetch = () => Promise.reject(error);
    const ads = createAds({ url: "http://localhost:9", token: "ad_one", botId: 7, retries: 0, timeoutMs: 50, fetch });
    return ads.events().catch(({ message }: Error) => message);
  };
  expect(await messageOf(foreign.refused)).toContain("did not answer: connect ECONNREFUSED ::1:9; check the address");
  expect(await messageOf(foreign.late)).toContain("did not answer within 50 ms");
});

test("a moment that is none is left to the service, which says what it takes", async () => {
  const fake = fakeAdService();
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  const message = expect.stringContaining("from: must be a date-time such as 2026-01-31T08:00:00Z");
  for (const call of [
    () => ads.stats({ from: new Date("soon") }),
    () => ads.referenceStats("", { from: new Date("x") }),
  ])
    await expect(call()).rejects.toMatchObject({ code: "BAD_REQUEST", message });
});

test("a server that does not answer in time is named with its address and the limit", async () => {
  const fetch = (_url: unknown, init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) =>
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
    );
  const options = { url: "https://rewards.example.com", timeoutMs: 5, retries: 0, fetch };
  const message = "did not answer within 5 ms: check whether it runs there";
  await expect(createAds({ ...options, token: "ad_one", botId: 7 }).events()).rejects.toThrow(
    `the ad service at https://rewards.example.com ${message}`,
  );
  await expect(createCompanion({ ...options, apiKey: "key" }).balance(42)).rejects.toThrow(
    `the companion API at https://rewards.example.com ${message}`,
  );
});

test("https:// for a port of plain HTTP is told as such, not as a dump of OpenSSL", async () => {
  const server = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cause =
    "did not answer: there is no TLS at its port (wrong version number), so the address begins with http://";
  await expect(createAds({ url, token: "ad_one", botId: 7, retries: 0 }).events()).rejects.toThrow(
    `the ad service at ${url} ${cause}; check the address`,
  );
});

test("of an error with several lines and causes, the first line of the innermost is told", async () => {
  const refused = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  const openssl = new Error("unable to verify the first certificate\nerror:0A000086:SSL routines", {
    cause: undefined,
  });
  for (const [cause, message] of [
    [new AggregateError([refused]), "ECONNREFUSED"],
    [openssl, "unable to verify the first certificate"],
    ["text", "text"],
  ] as const) {
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const ads = createAds({ url: "https://rewards.example.com", token: "ad_one", botId: 7, retries: 0, fetch });
    await expect(ads.events()).rejects.toThrow(`at https://rewards.example.com did not answer: ${message}; check`);
  }
});
