import { crc32, deflateSync } from "node:zlib";
import type { Role } from "@intermission/operator-api/access";
import type { PictureOfBot } from "@intermission/operator-api/bots";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { secretBox } from "@intermission/server/secret-box";
import { afterAll, beforeAll, expect, test } from "vitest";
import { invitePerson, newPersonId } from "../src/people/people.ts";
import { openSession } from "../src/people/sessions.ts";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

let two: TwoNodes;
beforeAll(async () => {
  two = await openTwoNodes();
});
afterAll(() => two.close());

function chunk(type: string, content: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A PNG of one shade of grey. */
function greyPicture(shade: number, side = 64): Buffer {
  const head = Buffer.from([0, 0, 0, side, 0, 0, 0, side, 8, 0, 0, 0, 0]);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(side, shade)]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: side }, () => row)));
  const start = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([start, chunk("IHDR", head), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

const set = (botId: string, picture: PictureOfBot, body: Uint8Array, name = "face.png") =>
  operatorRequest("setBotPicture", { params: { botId, picture }, query: { name }, body });
const remove = (botId: string, picture: PictureOfBot) =>
  operatorRequest("removeBotPicture", { params: { botId, picture } });

async function addBot(): Promise<string> {
  const botId = newTelegramId();
  await two.send(two.nodes[0], operatorRequest("addBot", { body: { botId } }));
  return botId;
}

async function signIn(role: Role, botIds: string[] = []): Promise<Record<string, string>> {
  const { database } = two.store;
  const [personId, now] = [newPersonId(), new Date()];
  const invitation = { email: `${personId.toLowerCase()}@ads.test`, role, ...(botIds.length > 0 && { botIds }) };
  await invitePerson({ database, secretBox: secretBox(Buffer.alloc(32)) }, { personId, invitation, now });
  const { token } = await database.transaction((tx) => openSession(tx, { personId, now }));
  return { cookie: `__Host-operator=${token}`, origin: "http://ads.test" };
}

test("who may change a bot's settings may change its pictures, and nobody else", async () => {
  const botId = await addBot();
  for (const [role, status] of [
    ["owner", 200],
    ["ad-ops", 200],
    ["analyst", 403],
    ["publisher", 403],
  ] as const) {
    const caller = await signIn(role, role === "publisher" ? [botId] : []);
    const answers = [];
    for (const call of [set(botId, "bot", greyPicture(80)), remove(botId, "unit")]) {
      answers.push((await two.send(two.nodes[0], call, caller)).status);
    }
    expect([role, ...answers]).toEqual([role, status, status]);
  }
});

test("a picture is served as a small file, replaced, and removed; each change is an entry of the audit trail", async () => {
  const [node] = two.nodes;
  const botId = await addBot();
  const first = (await two.send(node, set(botId, "bot", greyPicture(80)))).body;
  const second = (await two.send(node, set(botId, "bot", greyPicture(160)))).body;
  expect(first.pictureFileName).toMatch(/^[0-9a-f]{64}\.(webp|png)$/);
  expect(second.pictureFileName).not.toBe(first.pictureFileName);
  const file = await fetch(`${node.address}/media/${second.pictureFileName}`);
  expect(file.headers.get("content-type")).toMatch(/^image\/(webp|png)$/);
  expect((await file.bytes()).length).toBeLessThan(10_000);
  const removed = await two.send(node, remove(botId, "bot"));
  expect(removed).toMatchObject({ status: 200, body: { pictureFileName: null } });
  const query = { objectKind: "bot", objectId: botId, limit: "3" };
  const { body } = await two.send(node, operatorRequest("listAuditEntries", { query }));
  expect(body.entries).toMatchObject([
    { operation: "removeBotPicture", after: { picture_file_name: null } },
    { operation: "setBotPicture", before: { picture_file_name: first.pictureFileName } },
    { operation: "setBotPicture", after: { picture_file_name: first.pictureFileName } },
  ]);
});

test("a file that is no picture is refused with what is wrong, and the bot keeps its own", async () => {
  const [node] = two.nodes;
  const botId = await addBot();
  const { body: before } = await two.send(node, set(botId, "unit", greyPicture(80)));
  for (const [file, code] of [
    [Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "PICTURE_IS_OTHER"],
    [Buffer.from("<!doctype html><title>A page</title>"), "PICTURE_IS_OTHER"],
    [greyPicture(80, 16), "PICTURE_SIDES"],
    [greyPicture(80).subarray(0, 60), "FILE_TRUNCATED"],
    [Buffer.alloc(0), "FILE_EMPTY"],
  ] as const) {
    const refused = await two.send(node, set(botId, "unit", file));
    expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ field: "file", code }] } } });
  }
  const { body: after } = await two.send(node, operatorRequest("showBot", { params: { botId } }));
  expect(after).toMatchObject({ unitIconFileName: before.unitIconFileName, updatedAt: before.updatedAt });
  expect(await two.send(node, set("1", "bot", greyPicture(80)))).toMatchObject({ status: 404 });
  expect(await two.send(node, { ...remove(botId, "bot"), path: `/bots/${botId}/pictures/cover` })).toMatchObject({
    status: 400,
  });
});

test("of eight pictures at once none is lost: both places have one, and each entry begins where the last one ended", async () => {
  const botId = await addBot();
  const all = await two.eightAtOnce(["bots"], (node, n) =>
    two.send(node, set(botId, n % 2 === 0 ? "bot" : "unit", greyPicture(20 * n))),
  );
  expect(all.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const { body: bot } = await two.send(two.nodes[0], operatorRequest("showBot", { params: { botId } }));
  const query = { objectKind: "bot", objectId: botId, limit: "8" };
  const { body } = await two.send(two.nodes[0], operatorRequest("listAuditEntries", { query }));
  type Fields = Record<string, unknown>;
  const entries = (body.entries as { before: Fields; after: Fields }[]).toReversed();
  let pictures: Fields = { picture_file_name: null, unit_icon_file_name: null };
  for (const { before, after } of entries) {
    expect(pictures).toMatchObject(before);
    pictures = { ...pictures, ...after };
  }
  expect(pictures).toEqual({ picture_file_name: bot.pictureFileName, unit_icon_file_name: bot.unitIconFileName });
  expect([bot.pictureFileName, bot.unitIconFileName]).not.toContain(null);
});
