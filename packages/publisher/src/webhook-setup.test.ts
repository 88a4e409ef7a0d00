import { SIGNATURE_TEST_USER_AGENT } from "@intermission/ad-core/webhook-refusal";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { toNodeHandler } from "./node.ts";
import { signWebhook } from "./testing/sign-webhook.ts";
import { type WebhookOptions, webhook } from "./webhook.ts";

const token = "ad_test";
const address = "https://bot.example.com/webhook";
const signed = (eventId?: string) => new Request(address, signWebhook({ userId: "42", eventId }, token));
let logged: MockInstance<typeof console.error>;
beforeEach(() => {
  logged = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const missing =
  "tokens (AD_API_TOKEN) is missing: set it to the bot's API token; the operator creates one: pnpm ads tokens create --bot-id <digits>";

test.each<[string, WebhookOptions["tokens"], string]>([
  ["no token", undefined, missing],
  ["an empty token", "", missing],
  ["a function that returns none", () => undefined, missing],
  ["empty tokens", ["", ""], missing],
  ["a token in quotes", '"ad_test"', "tokens (AD_API_TOKEN) is in quotes: remove the quotes"],
  [
    "the token of @BotFather",
    async () => "7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
    "tokens (AD_API_TOKEN) is a token of @BotFather: it needs the bot's API token of the ad service, which begins with ad_ there; the operator creates one: pnpm ads tokens create --bot-id <digits>",
  ],
])(
  "with %s a module loads, and a webhook is answered 500 with what to do, and logged",
  async (_name, tokens, message) => {
    const handle = vi.fn();
    const receive = webhook(handle, { tokens });
    expect(logged).not.toHaveBeenCalled();
    const answer = await receive(signed());
    expect([answer.status, await answer.json()]).toEqual([500, { error: { code: "NOT_CONFIGURED", message } }]);
    expect(logged).toHaveBeenCalledWith("webhooks cannot be received:", message);
    expect(handle).not.toHaveBeenCalled();
  },
);

test("a handler or options that are missing are named when the receiver is made", () => {
  expect(() => webhook({ tokens: token } as never, undefined as never)).toThrow(
    "webhook() needs a handler: webhook(handle, { tokens })",
  );
  expect(() => webhook(() => {}, undefined as never)).toThrow("the options are missing: webhook(handle, { tokens })");
});

test("tokens may be a function, which is called for each request: a secret that comes later is used", async () => {
  const handle = vi.fn();
  let secret: string | undefined;
  const receive = webhook(handle, { tokens: () => secret });
  expect((await receive(signed())).status).toBe(500);
  secret = token;
  expect((await receive(signed())).status).toBe(200);
  secret = "ad_next";
  vi.spyOn(console, "warn").mockImplementation(() => {});
  expect((await receive(signed())).status).toBe(401);
  expect(handle).toHaveBeenCalledTimes(1);
});

test("an error of the secret store is logged, answered 500, and not shown to the sender", async () => {
  const receive = webhook(() => {}, { tokens: () => Promise.reject(new Error("vault at 10.0.0.7 refuses s3cret")) });
  const answer = await receive(signed());
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toMatch(/vault|s3cret/);
  expect(logged).toHaveBeenCalledWith("webhooks cannot be received:", expect.any(Error));
});

test("a body that was read before is answered 500 with where to pass the request", async () => {
  const request = signed();
  await request.json();
  const answer = await webhook(() => {}, { tokens: token })(request);
  expect([answer.status, await answer.json()]).toMatchObject([
    500,
    { error: { code: "NOT_CONFIGURED", message: expect.stringContaining("before request.json()") } },
  ]);
});

test("a request of Node instead of a Request rejects with the name of the adapter", async () => {
  const incoming = { method: "POST", headers: {}, body: { event: "rewarded" } } as unknown as Request;
  await expect(webhook(() => {}, { tokens: token })(incoming)).rejects.toThrow("toNodeHandler(webhook(…))");
});

test("a body that a platform has parsed into an object is named, also where no stream was read", async () => {
  const incoming = { method: "POST", headers: {}, body: { event: "rewarded" }, url: "/webhook" };
  const next = vi.fn();
  await toNodeHandler(webhook(() => {}, { tokens: token }))(incoming as never, {} as never, next);
  expect(next).toHaveBeenCalledWith(
    expect.objectContaining({ message: expect.stringContaining("mount the webhook before the parser") }),
  );
});

test.each(["development", "production", "test"])(
  "a memory store warns once of what it forgets, and where one is made for each request, in %s",
  async (mode) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    vi.stubEnv("NODE_ENV", mode);
    vi.resetModules();
    const fresh = await import("./webhook.ts");
    const receive = fresh.webhook(() => {}, { tokens: token });
    for (let times = 0; times < 3; times++) await receive(signed());
    const forgets = [expect.stringContaining("or to another process, is paid again. Pass a persistent store")];
    expect(warn.mock.calls).toEqual([forgets]);
    for (let times = 0; times < 3; times++) await fresh.webhook(() => {}, { tokens: token })(signed());
    // Tests make many receivers.
    const perRequest = mode === "test" ? [] : [[expect.stringContaining("made for each request")]];
    expect(warn.mock.calls).toEqual([forgets, ...perRequest]);
  },
);

test("onRefused and onError that are asynchronous and reject do not end the process: anyone can cause a refusal", async () => {
  const failing = async () => {
    throw new Error("the chat of the operators is away");
  };
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  try {
    const receive = webhook(() => Promise.reject(new Error("no database")), {
      tokens: token,
      onRefused: failing,
      onError: failing,
    });
    expect((await receive(new Request(address, { method: "POST", body: "{}" }))).status).toBe(401);
    expect((await receive(signed())).status).toBe(500);
    await vi.waitFor(() => expect(logged).toHaveBeenCalledTimes(2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off("unhandledRejection", unhandled);
  }
});

test("the ad service's test of a wrong signature is refused, and reported nowhere", async () => {
  const onRefused = vi.fn();
  const receive = webhook(() => {}, { tokens: "ad_own", onRefused });
  const { headers, body } = signWebhook({ userId: "0", isTest: true }, "ad_other");
  const send = async (userAgent: string) => {
    const sent = { method: "POST", body, headers: { ...headers, "user-agent": userAgent } };
    return (await receive(new Request("http://bot.test/", sent))).status;
  };
  expect([await send(SIGNATURE_TEST_USER_AGENT), onRefused.mock.calls.length]).toEqual([401, 0]);
  expect([await send("curl/8"), onRefused.mock.calls.length]).toEqual([401, 1]);
});
