import { describe, expect, test, vi } from "vitest";
import { AdsError } from "./ads-error.ts";
import { type Ads, type AdsOptions, createAds } from "./create-ads.ts";

const code = { code: "ABCDEFGHJKMNPQRSTU", expires_in: 3600, expires_at: "2026-01-02T04:04:05Z" };
const refused = (status: number, errorCode: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code: errorCode, message: "refused" } }, { status, headers });

/** A client whose requests are answered by these functions, in sequence; the last one answers all further requests. */
function clientOf(answers: (() => Response | Promise<Response>)[], options: Partial<AdsOptions> = {}) {
  const tokens: string[] = [];
  const ads = createAds({
    url: "http://ads.test/",
    token: "ad_one",
    botId: "7000000001",
    ...options,
    fetch: async (_url, init) => {
      tokens.push(String(new Headers(init?.headers).get("authorization")));
      const answer = answers[Math.min(tokens.length, answers.length) - 1];
      if (answer === undefined) throw new Error("no answer is prepared");
      return answer();
    },
  });
  return { ads, tokens };
}

describe("Retry-After", () => {
  test.each<[string, string, number | undefined]>([
    ["seconds", "90", 90],
    ["a date", new Date(Date.now() + 90_000).toUTCString(), 90],
    ["a date in the past", "Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["a year", "31536000", 24 * 3600],
    ["a date in the next century", "Fri, 31 Dec 2199 23:59:59 GMT", 24 * 3600],
    ["anything else", "soon", undefined],
  ])("as %s is read, up to a day", async (_name, header, expected) => {
    const { ads } = clientOf([() => refused(429, "TOO_MANY_REQUESTS", { "retry-after": header })], { retries: 0 });
    const error = await ads.createCode({ userId: "42" }).catch((reason) => reason);
    expect(error).toBeInstanceOf(AdsError);
    if (expected === undefined) expect(error.retryAfterSeconds).toBeUndefined();
    else expect(Math.abs(error.retryAfterSeconds - expected)).toBeLessThanOrEqual(1);
  });

  test("of 0 s is followed by another attempt, of 6 s by the error", async () => {
    const soon = clientOf([() => refused(503, "BUSY", { "retry-after": "0" }), () => Response.json(code)]);
    expect((await soon.ads.createCode({ userId: "42" })).code).toBe(code.code);
    const later = clientOf([() => refused(503, "BUSY", { "retry-after": "6" })]);
    await expect(later.ads.createCode({ userId: "42" })).rejects.toMatchObject({ code: "BUSY", retryAfterSeconds: 6 });
    expect(later.tokens).toHaveLength(1);
  });
});

describe("an answer", () => {
  test.each([
    ["a code", (ads: Ads) => ads.createCode({ userId: "42" })],
    ["an availability", (ads: Ads) => ads.availability("42")],
    ["a page of events", (ads: Ads) => ads.events()],
    ["a test", (ads: Ads) => ads.testWebhook()],
    ["a card", (ads: Ads) => ads.card({ userId: "42" })],
    ["a card that was sent", (ads: Ads) => ads.cardShown("1")],
  ])("without the fields of %s is an error, although it is 200", async (_name, call) => {
    const { ads } = clientOf([() => Response.json({})]);
    await expect(call(ads)).rejects.toMatchObject({ name: "AdsError", code: "UNEXPECTED_ANSWER" });
  });

  test("larger than 2 MiB is refused, and the rest of it is not read", async () => {
    let read = 0;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          read += 65_536;
          controller.enqueue(new Uint8Array(65_536));
        },
      });
    const { ads } = clientOf([() => new Response(endless())]);
    await expect(ads.code("ABCD")).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER", status: 200 });
    expect(read).toBeLessThan(3 * 1024 * 1024);
  });

  test.each(["", "[", "null", '"text"', '{"error":"text"}', '{"error":{"code":7}}'])(
    "of %j with status 500 is an error outside the contract",
    async (text) => {
      const { ads } = clientOf([() => new Response(text, { status: 500 })]);
      await expect(ads.code("ABCD")).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER", status: 500 });
    },
  );

  test("that is lost is requested again only if a second request changes nothing", async () => {
    const lost = () =>
      new Response(new ReadableStream({ start: (controller) => controller.error(new Error("reset")) }));
    const repeatable = clientOf([lost, () => Response.json(code)]);
    expect((await repeatable.ads.createCode({ userId: "42" })).code).toBe(code.code);
    const once = clientOf([lost]);
    await expect(once.ads.redeliver("evt_1")).rejects.toMatchObject({ code: "UNREACHABLE" });
    expect(once.tokens).toHaveLength(1);
  });
});

test("a test of the webhook waits longer than the service does for the webhook, unless the caller sets a limit", async () => {
  const limit = vi.spyOn(AbortSignal, "timeout");
  await clientOf([() => Response.json({ event_id: "evt_1" })]).ads.testWebhook();
  await clientOf([() => Response.json({ event_id: "evt_1" })], { timeoutMs: 3000 }).ads.testWebhook();
  await clientOf([() => Response.json(code)]).ads.createCode({ userId: 42 });
  expect(limit.mock.calls).toEqual([[25_000], [3000], [10_000]]);
  limit.mockRestore();
});

describe("several tokens", () => {
  test("are tried once each, and the accepted one is used first from then on", async () => {
    const unauthorized = () => refused(401, "UNAUTHORIZED");
    const { ads, tokens } = clientOf([unauthorized, unauthorized, () => Response.json({})], {
      token: ["ad_one", "ad_two", "ad_three"],
    });
    await ads.redeliver("evt_1");
    await ads.redeliver("evt_1");
    expect(tokens).toEqual(["ad_one", "ad_two", "ad_three", "ad_three"].map((token) => `Bearer ${token}`));
    const all = clientOf([unauthorized], { token: ["ad_one", "ad_two"] });
    await expect(all.ads.redeliver("evt_1")).rejects.toMatchObject({ status: 401 });
    expect(all.tokens).toHaveLength(2);
  });

  test("are not tried after a 401 that is not the ad service's, such as a proxy's", async () => {
    const { ads, tokens } = clientOf([() => new Response("login", { status: 401 })], { token: ["ad_one", "ad_two"] });
    await expect(ads.redeliver("evt_1")).rejects.toMatchObject({ status: 401, code: "UNEXPECTED_ANSWER" });
    expect(tokens).toEqual(["Bearer ad_one"]);
  });

  test("that are all empty are refused", () => {
    expect(() => createAds({ url: "http://ads.test", token: ["", ""], botId: "1" })).toThrow("API token");
  });
});

test("a pause between attempts ends at once with the signal's reason, and leaves no listener behind", async () => {
  const abort = new AbortController();
  const remove = vi.spyOn(abort.signal, "removeEventListener");
  const paused = Promise.withResolvers<void>();
  const busy = () => {
    paused.resolve();
    return refused(503, "BUSY", { "retry-after": "5" });
  };
  const stopped = clientOf([busy]).ads.createCode({ userId: "42" }, { signal: abort.signal });
  await paused.promise;
  abort.abort(new Error("the bot stops"));
  await expect(stopped).rejects.toThrow("the bot stops");
  await expect(clientOf([busy]).ads.createCode({ userId: "42" }, { signal: abort.signal })).rejects.toThrow(
    "the bot stops",
  );

  const running = new AbortController();
  const added = vi.spyOn(running.signal, "addEventListener");
  const removed = vi.spyOn(running.signal, "removeEventListener");
  const soon = () => refused(503, "BUSY", { "retry-after": "0" });
  await clientOf([soon, () => Response.json(code)]).ads.createCode({ userId: "42" }, { signal: running.signal });
  expect(added).toHaveBeenCalledTimes(1);
  expect(removed).toHaveBeenCalledTimes(1);
  expect(remove).not.toHaveBeenCalled();
});
