import { adviseOnAnswer } from "@intermission/ad-core/delivery-advice";
import { openSslReason } from "@intermission/ad-core/tls-fault";
import type { ShownDelivery } from "@intermission/operator-api/deliveries";
import { expect, test } from "vitest";
import { explainDelivery, explainToPublisher } from "./explain-delivery.ts";

const noon = new Date("2026-03-01T12:00:00.000Z");
const delivery: ShownDelivery = {
  botId: "7000000001",
  eventId: "evt_1",
  event: "rewarded",
  userId: "1",
  isTest: false,
  state: "waiting",
  attempts: 1,
  dueAt: noon,
  createdAt: noon,
  finishedAt: null,
  endReason: null,
  resumeState: null,
  blockedReason: null,
  notBefore: null,
  body: "{}",
  log: [],
};

test.each<[Partial<ShownDelivery>, string]>([
  [{ state: "delivered" }, "answered 2xx"],
  [{ state: "sending" }, "under way"],
  [{}, "is scheduled"],
  [{ resumeState: "delivered" }, "it is a replay; if that fails, its state is delivered again"],
  [{ notBefore: new Date("2026-03-01T12:05:00.000Z") }, "in backoff until 2026-03-01T12:05:00.000Z"],
  // It is due only after the backoff, which delays nothing.
  [{ notBefore: new Date("2026-03-01T11:59:00.000Z") }, "is scheduled"],
  [{ blockedReason: "gone" }, "endpoints enable 7000000001"],
  [{ state: "held", blockedReason: "pending" }, "endpoints test 7000000001"],
  [{ state: "held", blockedReason: "no-endpoint" }, "--webhook-url"],
  [{ state: "held", blockedReason: "no-token" }, "tokens create --bot-id 7000000001"],
  [{ state: "held" }, "is sent shortly"],
  [{ state: "failed", endReason: "attempts-used-up" }, "deliveries replay evt_1"],
  [{ state: "failed", endReason: "held-too-long" }, "held for 30 days"],
  [{ state: "failed", endReason: "test", isTest: true }, "endpoints test 7000000001"],
  [{ state: "unknown", endReason: "at-most-once" }, "unknown whether it arrived"],
])("%j is explained, with the next step", (change, words) => {
  expect(explainDelivery({ ...delivery, ...change })).toContain(words);
});

test.each(["operator", "publisher"] as const)("every answer except 2xx has advice for the %s", (reader) => {
  const advise = (status: number | null, errorClass: string | null = null) =>
    adviseOnAnswer({ status, errorClass, text: null }, reader);
  for (let status = 300; status < 600; status++) expect(advise(status)).toBeTruthy();
  expect(advise(302, "redirect")).toMatch(/redirects are not followed|follow no redirect/);
  expect(advise(304, "redirect")).toMatch(/304.*2xx/);
  for (const status of [520, 521, 522, 523, 524, 525, 526, 530]) expect(advise(status)).toMatch(/^Cloudflare/);
  expect(advise(null)).toMatch(/the outcome is unknown/i);
  expect(advise(204)).toBeUndefined();
});

test.each(["operator", "publisher"] as const)(
  "for the %s, a port without TLS is not blamed on a certificate",
  (reader) => {
    const advise = (text: string) => adviseOnAnswer({ status: null, errorClass: "tls", text }, reader);
    expect(advise("wrong version number")).toMatch(/port does not use TLS/);
    expect(advise("certificate has expired")).toMatch(/certificate/);
    expect(advise("certificate has expired")).not.toMatch(/port/);
  },
);

const sentences: [status: number | null, text: string, words: RegExp][] = [
  [
    500,
    '{"error":{"code":"NOT_CONFIGURED","message":"tokens is missing"}}',
    /NOT_CONFIGURED: tokens is missing.*not set up/,
  ],
  [500, '{"message":"no such table: events"}', /no such table: events/],
  [502, "<html><title>502 Bad Gateway</title></html>", /proxy in front/],
  [503, "down for backups", /down for backups.*maintenance/],
  [422, '{"detail":"unknown field code"}', /unknown field code/],
  [401, 'www-authenticate: Basic realm="Staging"\n<html>', /asks for a login.*exempt/],
  [401, "bad token", /bad token.*signature/],
  [404, "ngrok-error-code: ERR_NGROK_3200\n<!DOCTYPE html>", /ngrok tunnel is offline/],
  [404, "The endpoint abc.ngrok-free.app is offline.\r\n\r\nERR_NGROK_3200", /ngrok tunnel is offline/],
  [502, "<noscript>Traffic was tunneled (ERR_NGROK_8012)</noscript>", /ngrok tunnel runs/],
  [403, "ngrok-error-code: ERR_NGROK_727\n", /ngrok (answers|refuses).*ngrok\.com\/docs\/errors/],
  [200, "<!DOCTYPE html>You are about to visit: ERR_NGROK_6024", /ngrok (answers|refuses)/],
  [530, "error code: 1033", /Cloudflare Tunnel is not connected/],
  [
    530,
    "<title>Cloudflare Tunnel error | a.example.com | Cloudflare</title><span>Error</span> <span>1033</span>",
    /Tunnel is not connected/,
  ],
  [530, "error code: 1016", /Cloudflare cannot resolve/],
  [530, "", /^Cloudflare has no way/],
  [502, "<title>a.trycloudflare.com | 502: Bad gateway</title> cloudflared", /Cloudflare, or (its tunnel|cloudflared)/],
  [502, "error code: 502", /Cloudflare, or (its tunnel|cloudflared)/],
  [403, "cf-mitigated: challenge\n<title>Just a moment...</title>", /Cloudflare blocks/],
  [403, "error code: 1020", /Cloudflare blocks/],
  [503, "503 - Tunnel Unavailable", /tunnel is not connected/],
  [200, "<html>", /web page/],
  [200, '{"ok":false,"message":"no such user"}', /no such user.*says? that it failed/],
  [200, '{"data":{"success":false,"msg":"no such user"}}', /no such user.*says? that it failed/],
];

test.each(["operator", "publisher"] as const)("who answers and what it says decide the advice for the %s", (reader) => {
  for (const [status, text, words] of sentences)
    expect(adviseOnAnswer({ status, errorClass: null, text }, reader), `${status} ${text}`).toMatch(words);
  const long = adviseOnAnswer({ status: 500, errorClass: null, text: `a\u001b"b\u202e ${"x".repeat(900)}` }, reader);
  expect(long).toMatch(/says "a b x{100,160}…"/);
});

/** The messages of OpenSSL and Node, as they arrive. */
const tlsFaults: [message: string, operator: RegExp, command: RegExp][] = [
  ["self-signed certificate", /self-signed/, /-subject -issuer/],
  ["self-signed certificate in certificate chain", /private authority/, /-showcerts/],
  ["unable to verify the first certificate", /intermediate/, /-showcerts/],
  ["unable to get local issuer certificate", /intermediate/, /-showcerts/],
  [
    "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b",
    /another name/,
    /subjectAltName/,
  ],
  ["certificate has expired", /has expired/, /-dates/],
  ["certificate is not yet valid", /not yet valid/, /-dates/],
  ["tlsv1 alert protocol version", /version of TLS/, /-tls1_2/],
  ["unsupported protocol", /version of TLS/, /-tls1_2/],
  ["tlsv1 unrecognized name", /SNI/, /-servername/],
  ["tlsv13 alert certificate required", /client certificate/, /curl -v/],
  ["wrong version number", /does not use TLS/, /curl -v/],
];

test("each fault of TLS has its sentence and its command, and none speaks of Node", () => {
  const seen = new Set<string | undefined>();
  for (const [text, words, command] of tlsFaults) {
    const answer = { status: null, errorClass: "tls", text };
    expect(adviseOnAnswer(answer, "operator"), text).toMatch(words);
    expect(adviseOnAnswer(answer, "publisher"), text).toMatch(command);
    expect(adviseOnAnswer(answer, "publisher"), text).toMatch(/(openssl s_client|curl) /);
    seen.add(adviseOnAnswer(answer, "publisher"));
  }
  expect(seen.size).toBe(10);
  const hint =
    "unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca";
  expect(openSslReason(hint)).toBe("unable to verify the first certificate");
});

test("a receiver's 401 that names its clock is not blamed on token and parser", () => {
  const adviseOn = (text: string) => adviseOnAnswer({ status: 401, errorClass: null, text }, "operator");
  const stale = JSON.stringify({
    error: { code: "BAD_SIGNATURE", message: "", details: { fault: "stale", seconds: 601 } },
  });
  expect(adviseOn(stale)).toMatch(/601 s ago by the clock of its machine: check that clock \(NTP\)/);
  expect(adviseOn(stale)).not.toMatch(/token|raw bytes/);
  expect(adviseOn("who are you?")).toMatch(/raw bytes.*token.*clock/);
});

test.each<[Partial<ShownDelivery>, RegExp]>([
  [{ state: "delivered" }, /answered 2xx/],
  [{}, /due at 2026-03-01T12:00:00\.000Z/],
  [{ notBefore: new Date("2026-03-01T12:05:00.000Z") }, /until 2026-03-01T12:05/],
  [{ state: "held", blockedReason: "pending" }, /POST \/client\/v1\/webhook\/test/],
  [{ state: "failed", endReason: "attempts-used-up" }, /POST \/client\/v1\/events\/evt_1\/redeliver/],
  [{ state: "failed", endReason: "test", isTest: true }, /sent once/],
  [{ state: "unknown", endReason: "at-most-once" }, /unknown whether it arrived/],
])("%j is explained to its publisher, without the operator's commands", (change, words) => {
  const explained = explainToPublisher({ ...delivery, ...change });
  expect(explained).toMatch(words);
  expect(explained).not.toMatch(/(deliveries|endpoints|bots) [a-z]+ /);
});
