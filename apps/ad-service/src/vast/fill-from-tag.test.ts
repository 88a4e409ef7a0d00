import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { dropReasons } from "@intermission/operator-api/creatives";
import type { Database } from "@intermission/postgres/open-database";
import { createLogger } from "@intermission/server/logger";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { inline, vast } from "../../test/fixtures/sample-ad-server.ts";
import { describeDevice } from "../creatives/choose-rendition.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { fillFromTag, openTags } from "./fill-from-tag.ts";
import { openTurns } from "./read-xml.ts";

/** The answers below name no address for errors, of which the calls would be stored. */
const database = {} as Database;

interface TagAnswer {
  status: number;
  body: string;
}

/** What an operator reads of a tag's openings, in the log and in the counters. */
async function loggedFor(answer: TagAnswer, { openings = 1 } = {}): Promise<{ lines: string[]; counters: string }> {
  const server = createServer((_request, response) => response.writeHead(answer.status).end(answer.body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { vast: ["127.0.0.1"] } });
  onTestFinished(async () => {
    await requests.close();
    server.close();
  });
  const lines: string[] = [];
  const log = createLogger({ level: "info", name: "ads", write: (line) => lines.push(line) });
  const registry = new Registry();
  const now = () => new Date();
  const tags = openTags({ database, requests, isPlainHttpAllowed: true, turns: openTurns(), log, now, registry });
  const url = `http://127.0.0.1:${port}/tag?key=SECRET-KEY`;
  const tag = { botId: "7", creativeId: "cre_1", viewId: "7-abc", url, userAgent: "phone", totalMs: 5000 };
  for (let opening = 0; opening < openings; opening++) await fillFromTag(tags, { ...tag, device: describeDevice({}) });
  return { lines, counters: await registry.metrics() };
}

const withoutErrors = (document: string) => document.replaceAll(/<Error>[\s\S]*?<\/Error>/g, "");

const faultyAnswers: [code: number, answer: { status: number; body: string }][] = [
  [100, { status: 200, body: "<VAST version='4.0'><Ad>SECRET-KEY" }],
  [101, { status: 200, body: "<html>SECRET-KEY</html>" }],
  [102, { status: 200, body: vast("", "9.0") }],
  [201, { status: 200, body: withoutErrors(inline()).replaceAll("Linear>", "NonLinearAds>") }],
  [202, { status: 200, body: withoutErrors(inline({ duration: "-00:00:10" })) }],
  [301, { status: 500, body: "no key SECRET-KEY" }],
  [301, { status: 302, body: "go on with SECRET-KEY" }],
  [403, { status: 200, body: withoutErrors(inline({ files: "" })) }],
];
for (const [code, answer] of faultyAnswers) {
  const tags = [100, 403].includes(code) || answer.status === 500 ? [] : ["long"];
  const what = `VAST error code ${code} after the status ${answer.status}`;
  test(`${what} is in the log, without the tag's query and the ad server's response`, { tags }, async () => {
    const { lines, counters } = await loggedFor(answer);
    const [line = "", ...more] = lines;
    expect(more).toEqual([]);
    expect(counters).toContain(`intermission_vast_answers_total{answer="${code}"} 1`);
    expect(JSON.parse(line)).toMatchObject({ msg: "a VAST tag returned no ad", creativeId: "cre_1", code });
    expect(line).not.toContain("SECRET-KEY");
    expect(line).not.toContain("/tag");
  });
}

test.each(["", " \n", "<VAST/>", '<?xml version="1.0"?>', '<VAST version="4.0"></VAST>'])(
  "the answer '%s' is counted as no ad, and logs nothing",
  async (body) => {
    const { lines, counters } = await loggedFor({ status: 200, body }, { openings: 2 });
    expect(lines).toEqual([]);
    expect(counters).toContain('intermission_vast_answers_total{answer="303"} 2');
  },
);

test("what is dropped of a shown ad is logged once with its reason, and counted at each opening", async () => {
  const dropped = "<Impression>ftp://a.b/SECRET-KEY</Impression><Impression>[TRACKER]</Impression>";
  const body = inline({ more: dropped }).replaceAll("{self}", "http://ads.example");
  const { lines, counters } = await loggedFor({ status: 200, body }, { openings: 2 });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: "parts of a VAST tag's answer were not used", creativeId: "cre_1", dropped: { "tracker-address": 2 } },
  ]);
  expect(lines.join()).not.toContain("SECRET-KEY");
  expect(counters).toContain('intermission_vast_answers_total{answer="ad"} 2');
  expect(counters).toContain('intermission_vast_dropped_total{reason="tracker-address"} 4');
  expect(counters).toContain('intermission_vast_dropped_total{reason="pod-ad"} 0');
});

test("the documentation explains each reason for which a part is dropped", () => {
  const serving = readFileSync(join(import.meta.dirname, "../../../../docs/serving.md"), "utf8");
  for (const reason of dropReasons) expect(serving).toContain(`\`${reason}\``);
});
