import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type NodeAnswer, openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

let two: TwoNodes;
beforeAll(async () => {
  two = await openTwoNodes();
});
afterAll(() => two.close());

const statuses = (all: readonly NodeAnswer[]) => all.map(({ status }) => status).toSorted();
const oneOf = (won: number) => [won, ...Array(7).fill(409)];

/** A finished upload of the command line. */
async function upload(): Promise<string> {
  const clip = await readFile(join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4"));
  const headers = { authorization: `Bearer ${"o".repeat(32)}`, "tus-resumable": "1.0.0" };
  const begun = await fetch(`${two.nodes[0].address}/operator/v1/uploads`, {
    method: "POST",
    headers: { ...headers, "upload-length": String(clip.byteLength) },
  });
  const location = new URL(begun.headers.get("location") ?? "", two.nodes[0].address);
  await fetch(location, {
    method: "PATCH",
    headers: { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    body: clip,
  });
  return location.pathname.split("/").at(-1) ?? "";
}

test("a finished upload that is made a creative eight times is one creative, and no request fails", async () => {
  const uploadId = await upload();
  const all = await two.allAtOnce((node) =>
    two.send(node, operatorRequest("addUploadedVideo", { body: { uploadId, name: "clip.mp4" } })),
  );
  // A node that comes to it when the other one has finished finds no upload any more.
  const added = all.filter(({ status }) => status === 201);
  expect(all.filter(({ status }) => status !== 201).map(({ status }) => status)).toEqual(
    Array(8 - added.length).fill(404),
  );
  expect(new Set(added.map(({ body }) => body.creativeId)).size).toBe(1);
  const { body } = await two.send(two.nodes[0], operatorRequest("listCreatives"));
  expect(body.creatives).toHaveLength(1);
  const again = await two.send(
    two.nodes[1],
    operatorRequest("addUploadedVideo", { body: { uploadId, name: "clip.mp4" } }),
  );
  expect(again.status).toBe(404);
});

test("of eight advertisers with one name, in any spelling, one is added", async () => {
  const all = await two.eightAtOnce(["advertisers"], (node, n) =>
    two.send(node, operatorRequest("addAdvertiser", { body: { name: n % 2 === 0 ? "Shop" : " SHOP " } })),
  );
  expect(statuses(all)).toEqual(oneOf(201));
});

test("of eight advertisers that get one name, one has it", async () => {
  const added = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      two.send(two.nodes[0], operatorRequest("addAdvertiser", { body: { name: `Brand ${n}` } })),
    ),
  );
  const all = await two.eightAtOnce(["advertisers"], (node, n) => {
    const params = { advertiser: String(added[n]?.body.advertiserId) };
    return two.send(node, operatorRequest("updateAdvertiser", { params, body: { name: "The brand" } }));
  });
  expect(statuses(all)).toEqual(oneOf(200));
});

test("a bot that is added eight times is added once, with one token", async () => {
  const botId = newTelegramId();
  const all = await two.eightAtOnce(["bots"], (node) => two.send(node, operatorRequest("addBot", { body: { botId } })));
  expect(statuses(all)).toEqual(oneOf(201));
  const next = await two.eightAtOnce(["bot_tokens"], (node) =>
    two.send(node, operatorRequest("createToken", { params: { botId } })),
  );
  expect(statuses(next)).toEqual(oneOf(201));
});

test("a campaign that is added eight times with its key is one campaign, and each repeat gets it", async () => {
  const body = {
    idempotencyKey: "key-of-eight-campaigns",
    advertiser: "Newcomer",
    name: "Sale",
    formats: ["direct_link"],
    landingUrl: "https://shop.example",
    clickPriceMicros: 10_000,
  };
  const all = await two.eightAtOnce(["campaigns", "advertisers"], (node) =>
    two.send(node, operatorRequest("addCampaign", { query: { confirmed: "true" }, body })),
  );
  expect(statuses(all)).toEqual(Array(8).fill(201));
  expect(new Set(all.map(({ body: answer }) => JSON.stringify(answer))).size).toBe(1);
});
