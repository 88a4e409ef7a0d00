import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readFile, rename, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import type { Filing } from "@intermission/operator-api/ord";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eridOf, type OrdFixture, openOrd } from "./fixtures/ord-fixture.ts";
import { openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

const clip = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");
const script = fileURLToPath(new URL("./fixtures/sync-ord-process.ts", import.meta.url));
const key = "key-of-the-stand-in";
const encryptionKey = Buffer.alloc(32, 9);
const [operatorInn, shopInn, publisherInn] = ["7707083893", "7736207543", "500100732259"];

let nodes: TwoNodes;
let ord: OrdFixture;
let botId: string;
let creativeId: string;
let advertiserId: string;

const run = <Row = never>(text: string, ...values: unknown[]) =>
  nodes.store.database.run<Row>({ name: "", text }, values);

async function send<Name extends OperatorRouteName>(...request: Parameters<typeof operatorRequest<Name>>) {
  return nodes.send(nodes.nodes[0], operatorRequest(...request));
}
async function listed(all = false): Promise<Filing[]> {
  const { body } = await send("listFilings", { query: { all: String(all) } });
  return body.filings as Filing[];
}
const sync = (isDryRun = false) => send("syncOrd", { body: { isDryRun } });
/** As before the first run. */
async function forget() {
  ord.stored.clear();
  ord.calls.length = 0;
  await run("delete from ord_records");
  await run("update creatives set erid = null");
}
async function fileOf(id: string): Promise<string> {
  const [creative] = await run<{ name: string }>("select file_name as name from creatives where creative_id = $1", id);
  return join(nodes.mediaFolder, creative?.name ?? "");
}
const requestsOf = () => ord.calls.map(({ method, path }) => `${method} ${path}`);

beforeAll(async () => {
  ord = await openOrd({ key });
  nodes = await openTwoNodes({
    encryptionKey,
    currency: "RUB",
    requests: { isPlainHttpAllowed: true, allowedNetworks: { ord: ["127.0.0.1/32"] } },
  });
  const bot = await send("addBot", { body: { botId: "7000000001", name: "Викторина", username: "quiz_bot" } });
  botId = String(bot.body.botId);
  const video = await send("uploadVideo", { query: { name: "spring.mp4" }, body: await readFile(clip) });
  creativeId = String(video.body.creativeId);
  const campaign = await send("addCampaign", {
    query: { confirmed: "true" },
    body: {
      name: "Sale",
      advertiser: "Shop",
      formats: ["rewarded"],
      viewPriceMicros: 4000,
      creativeIds: [creativeId],
      landingUrl: "https://shop.test/sale?erid={erid}",
    },
  });
  expect(campaign.body.error).toBeUndefined();
  const [shop] = await run<{ id: string }>("select advertiser_id as id from advertisers where name = 'Shop'");
  advertiserId = shop?.id ?? "";
  // 1,234.565 roubles for 300 completed of 310 views, and sums of other months.
  await run(
    `insert into stats_sums (span, starts_at, bot_id, campaign_id, creative_id, starts, rewards, spend_micros)
     select span, at, $1, 'cmp', $2, starts, rewards, spend from (values
       ('day', timestamptz '2026-02-01Z', 300, 290, 1234000000), ('day', '2026-02-28Z', 10, 10, 565000),
       ('hour', '2026-02-28T23:00Z', 10, 10, 565000), ('day', '2026-01-31Z', 7, 7, 7), ('day', '2026-03-01Z', 9, 9, 9)
     ) as sums (span, at, starts, rewards, spend)`,
    botId,
    creativeId,
  );
});
beforeEach(() => {
  ord.calls.length = 0;
  ord.behaviour.before = undefined;
  ord.behaviour.after = undefined;
});
afterAll(async () => {
  await nodes.close();
  await ord.close();
});

test("nothing is subject to filing before a party in Russia or a category is known; then what is missing is listed", async () => {
  expect(await listed(true)).toEqual([]);
  expect((await sync()).body.error).toMatchObject({ code: "ORD_KEY_NEEDED" });
  await send("setOrd", { body: { url: `${ord.url}/`, key } });
  expect((await send("showOrd")).body).toEqual({ url: ord.url, hasKey: true, isRunning: false });
  const [stored] = await run<{ sealed: Buffer }>("select sealed_key as sealed from ord_account");
  expect(stored?.sealed.includes(key)).toBe(false);
  const personKind = "juridical";
  const wrong = { params: { advertiser: "Shop" }, body: { personKind, inn: "7736207544" } };
  expect((await send("setAdvertiserParty", wrong)).status).toBe(400);
  await send("setAdvertiserParty", { ...wrong, body: { personKind: "ip", inn: shopInn } });
  expect((await listed()).map(({ kind, state, gaps }) => [kind, state, gaps])).toEqual([
    ["person", "incomplete", ["operator"]],
    ["person", "incomplete", ["advertiser"]],
    ["person", "incomplete", ["payee"]],
    ["contract", "incomplete", ["contract"]],
    ["pad", "waiting", []],
    ["creative", "incomplete", ["kktu"]],
    ["statistics", "waiting", []],
  ]);
  expect((await sync()).body).toMatchObject({ month: "2026-02", filed: 0, left: 7, stopped: null });
  expect(ord.calls).toEqual([]);
  expect((await send("syncOrd", { body: { month: "2026-03" } })).body.error).toMatchObject({ code: "MONTH_NOT_OVER" });
});

async function complete() {
  const personKind = "juridical";
  const params = { advertiser: "Shop" };
  await send("setOperatorParty", {
    body: { legalName: "Rewards Ltd", personKind, inn: operatorInn, taxPercent: "20" },
  });
  await send("setAdvertiserParty", {
    params,
    body: {
      legalName: "ООО «Лавка»",
      personKind,
      contractNumber: "12/26",
      contractDate: "2026-01-15",
      contractAmount: "150000",
    },
  });
  await send("setPayee", {
    params: { botId },
    body: { legalName: "Ivan", filedName: "Иванов Иван", personKind: "ip", inn: publisherInn },
  });
  await send("setLegalLine", { params: { creativeId }, body: { kktu: "30.10.1" } });
}

test("a dry run shows what would be sent, in order, and sends nothing", async () => {
  await complete();
  const { body } = await sync(true);
  const { requests } = body as unknown as { requests: { path: string; body: unknown }[] };
  expect(requests.map(({ path }) => path)).toEqual([
    `/v1/person/person-${operatorInn}`,
    `/v1/person/person-${shopInn}`,
    `/v1/person/person-${publisherInn}`,
    `/v1/contract/contract-${advertiserId}`,
    `/v1/pad/bot-${botId}`,
    expect.stringMatching(new RegExp(`^/v1/media/${creativeId}-media-[0-9a-f]{16}$`)),
    `/v3/creative/${creativeId}`,
    "/v3/statistics",
  ]);
  // 1,234.565 roubles are 123,457 kopecks with halves rounded up, of which a sixth is the tax.
  expect(requests.at(-1)?.body).toEqual({
    items: [
      {
        creative_external_id: creativeId,
        pad_external_id: `bot-${botId}`,
        shows_count: 310,
        invoice_shows_count: 300,
        date_start_actual: "2026-02-01",
        date_end_actual: "2026-02-28",
        pay_type: "other",
        amount: { excluding_vat: "1028.81", vat_rate: "20", vat: "205.76", including_vat: "1234.57" },
      },
    ],
  });
  expect(ord.calls).toEqual([]);
  expect(await run("select from ord_records where filed_at is not null")).toEqual([]);
});

test("a refusal and an overload are told apart: one is listed with its reason, the other is tried again within bounds", async () => {
  ord.behaviour.before = (path, response) => {
    if (!path.startsWith("/v1/person")) return false;
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"name of a wrong form"}');
    return true;
  };
  expect((await sync()).body).toMatchObject({ filed: 1, left: 7, stopped: null });
  const refused = (await listed()).filter(({ state }) => state === "refused");
  expect(refused.map(({ kind, fault }) => [kind, fault])).toEqual(
    Array(3).fill(["person", "400: name of a wrong form"]),
  );

  let refusals = 0;
  ord.calls.length = 0;
  ord.behaviour.before = (_path, response) => {
    if (refusals++ >= 4) return false;
    response.writeHead(refusals % 2 === 0 ? 503 : 429, { "retry-after": "0" }).end();
    return true;
  };
  await forget();
  expect((await sync()).body).toMatchObject({ filed: 8, left: 0, stopped: null });
  await forget();
  ord.behaviour.before = (_path, response) => {
    response.writeHead(503, { "retry-after": "0" }).end("busy");
    return true;
  };
  expect((await sync()).body).toMatchObject({ filed: 0, stopped: "503: busy" });
  expect(ord.calls, "five attempts at each of three records, and no other is tried").toHaveLength(15);
  ord.behaviour.before = undefined;
  await send("setOrd", { body: { url: ord.url, key: "another" } });
  expect((await sync()).body).toMatchObject({ filed: 0, stopped: "the key was refused: 401: unauthorized" });
  await send("setOrd", { body: { url: ord.url, key } });
});

test("a record that fails each time keeps no other one from being filed", async () => {
  await forget();
  const failing = (paths: RegExp) => {
    ord.behaviour.before = (path, response) => {
      if (!paths.test(path)) return false;
      response.writeHead(500, { "retry-after": "0" }).end("out of order");
      return true;
    };
  };
  failing(/pad/);
  expect((await sync()).body).toMatchObject({ filed: 6, left: 2, stopped: null });
  expect((await listed()).map(({ kind, state, fault }) => [kind, state, fault])).toEqual([
    ["pad", "ready", "500: out of order"],
    ["statistics", "waiting", null],
  ]);
  // Three that fail one after another end a run; the next one begins with the others, and tries all that failed before.
  await forget();
  const bots = ["7000000002", "7000000003", "7000000004"];
  for (const id of bots) {
    await send("addBot", { body: { botId: id, name: id, username: `quiz_${id}` } });
    const body = { legalName: "Ivan", filedName: "Иванов Иван", personKind: "ip", inn: publisherInn } as const;
    await send("setPayee", { params: { botId: id }, body });
  }
  await run(
    `insert into stats_sums (span, starts_at, bot_id, campaign_id, creative_id, starts, rewards, spend_micros)
     select 'day', timestamptz '2026-02-03Z', bot_id, 'cmp', $2, 1, 1, 1 from unnest($1::text[]) as bot_id`,
    bots,
    creativeId,
  );
  failing(/pad\/bot-700000000[2-4]/);
  const stopped = "500: out of order";
  expect((await sync()).body).toMatchObject({ filed: 5, left: 9, stopped });
  ord.calls.length = 0;
  expect((await sync()).body).toMatchObject({ filed: 3, left: 6, stopped: null });
  expect(requestsOf().slice(0, 3)).toEqual([
    expect.stringContaining("PUT /v1/media/"),
    `PUT /v3/creative/${creativeId}`,
    "POST /v3/statistics",
  ]);
  ord.behaviour.before = undefined;
  expect((await sync()).body).toMatchObject({ filed: 6, left: 0, stopped: null });
  await run("delete from stats_sums where bot_id = any ($1)", bots);
});

test("a file that cannot be read now keeps no record without a file from being filed", async () => {
  await forget();
  const file = await fileOf(creativeId);
  await rename(file, `${file}.away`);
  // Looking it up fails with ELOOP, as a bucket that answers 500 does.
  await symlink(file, file);
  try {
    const { filed, stopped } = (await sync()).body;
    expect({ stopped, others: filed }).toEqual({ stopped: null, others: 5 });
    const faults = (await listed()).map(({ kind, fault }) => [kind, fault]);
    expect(faults).toContainEqual(["media", expect.stringMatching(/cannot be read now: .*ELOOP/)]);
  } finally {
    await unlink(file);
    await rename(`${file}.away`, file);
  }
  expect((await sync()).body).toMatchObject({ left: 0, stopped: null });
});

test("eight runs at once on two nodes file each record once, and the creative has the erid", async () => {
  await forget();
  // The first answer waits until the others are refused.
  let isHeld = true;
  let refused = 0;
  ord.behaviour.before = async () => {
    while (isHeld && refused < 7) await new Promise((resolve) => setTimeout(resolve, 5));
    isHeld = false;
    return false;
  };
  const answers = await nodes.allAtOnce(async (node) => {
    const answer = await nodes.send(node, operatorRequest("syncOrd", { body: {} }));
    if (answer.status === 409) refused++;
    return answer;
  });
  expect(answers.filter(({ status }) => status === 200).map(({ body }) => body)).toMatchObject([{ filed: 8, left: 0 }]);
  expect(answers.filter(({ body }) => body.error?.code === "ORD_RUNNING")).toHaveLength(7);
  expect(new Set(requestsOf()).size).toBe(8);
  expect(ord.calls).toHaveLength(8);
  expect(ord.stored.get(`contract contract-${advertiserId}`)).toEqual({
    type: "service",
    client_external_id: `person-${shopInn}`,
    contractor_external_id: `person-${operatorInn}`,
    date: "2026-01-15",
    serial: "12/26",
    subject_type: "distribution",
    amount: "150000.00",
    flags: ["vat_included"],
  });
  expect(ord.stored.get(`person person-${publisherInn}`)).toMatchObject({ name: "Иванов Иван", roles: ["publisher"] });
  expect(ord.stored.get(`creative ${creativeId}`)).toMatchObject({
    contract_external_ids: [`contract-${advertiserId}`],
    target_urls: ["https://shop.test/sale"],
  });
  const marked = await send("showCreative", { params: { creativeId } });
  expect(marked.body).toMatchObject({
    erid: eridOf(creativeId),
    marking: `Реклама. ООО «Лавка». erid: ${eridOf(creativeId)}`,
  });
  expect(await listed()).toEqual([]);
});

test("a second run files nothing; what has changed is filed again, alone", async () => {
  expect((await sync()).body).toMatchObject({ filed: 0, left: 0 });
  expect(ord.calls).toEqual([]);
  await run("update stats_sums set starts = starts + 1 where span = 'day' and starts_at = '2026-02-28Z'");
  expect((await listed()).map(({ kind, state }) => [kind, state])).toEqual([["statistics", "ready"]]);
  expect((await sync()).body).toMatchObject({ filed: 1, left: 0 });
  expect(requestsOf()).toEqual(["POST /v3/statistics"]);
  expect([...ord.stored].filter(([id]) => id.startsWith("statistics"))).toHaveLength(1);
});

test("a lighter file that was made since is sent as another medium, and the creative is filed with it", async () => {
  const [media = ""] = [...ord.stored.keys()].filter((id) => id.startsWith("media "));
  const name = `${"0f".repeat(32)}.mp4`;
  await copyFile(await fileOf(creativeId), join(nodes.mediaFolder, name));
  const rendition = { fileName: name, mediaType: "video/mp4", byteLength: 1, width: 1, height: 1 };
  await run(
    "update creatives set renditions = jsonb_build_array($2::jsonb) where creative_id = $1",
    creativeId,
    JSON.stringify(rendition),
  );
  expect((await sync()).body).toMatchObject({ filed: 2, left: 0 });
  expect(ord.calls).toMatchObject([
    { path: `/v1/media/${creativeId}-media-${name.slice(0, 16)}`, status: 201 },
    { path: `/v3/creative/${creativeId}` },
  ]);
  expect(ord.stored.has(media)).toBe(true);
  expect(ord.stored.get(`creative ${creativeId}`)).toMatchObject({
    media_external_ids: [`${creativeId}-media-${name.slice(0, 16)}`],
  });
});

test("an erid from elsewhere is never overwritten, and its creative is listed", async () => {
  await run("update creatives set erid = 'elsewhere-1' where creative_id = $1", creativeId);
  const [creative, statistics] = await listed();
  expect([creative?.gaps, statistics?.state]).toEqual([["other-erid"], "waiting"]);
  await sync();
  expect((await send("showCreative", { params: { creativeId } })).body.erid).toBe("elsewhere-1");
  await run("update creatives set erid = null where creative_id = $1", creativeId);
  await sync();
  expect((await send("showCreative", { params: { creativeId } })).body.erid).toBe(eridOf(creativeId));
});

test("an advertiser that is the operator itself needs no contract: its creative is filed as its own", async () => {
  await send("setAdvertiserParty", { params: { advertiser: "Shop" }, body: { inn: operatorInn } });
  expect((await listed(true)).filter(({ kind }) => kind === "contract")).toEqual([]);
  await sync();
  expect(ord.stored.get(`creative ${creativeId}`)).toMatchObject({ person_external_id: `person-${operatorInn}` });
  expect(ord.stored.get(`person person-${operatorInn}`)).toMatchObject({ roles: ["ors", "advertiser"] });
  await send("setAdvertiserParty", { params: { advertiser: "Shop" }, body: { inn: shopInn } });
});

test("a run that is killed before or after any answer is continued by the next one, and each record is filed as without a kill", {
  tags: "long",
  timeout: 180_000,
}, async () => {
  await forget();
  await sync();
  const expected = new Map(ord.stored);
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: nodes.store.databaseUrl,
    MEDIA_FOLDER: nodes.mediaFolder,
    ENCRYPTION_KEY: encryptionKey.toString("base64"),
  };
  await forget();
  for (let kills = 0; kills < 9; kills++) {
    const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "ignore", "inherit"] });
    const exited = once(child, "exit");
    const kill = () => {
      child.kill("SIGKILL");
      return exited;
    };
    // In turn: the record does not arrive; it is filed, and the answer is lost; it is stored here, and the next one is not sent.
    let calls = 0;
    const killedAt = kills % 3 === 2 ? 1 : 0;
    ord.behaviour.before = async () => kills % 3 !== 1 && calls++ === killedAt && (await kill()) !== undefined;
    ord.behaviour.after = kills % 3 === 1 ? kill : undefined;
    await exited;
    expect(child.signalCode).toBe("SIGKILL");
    expect((await sync()).body.error).toMatchObject({ code: "ORD_RUNNING" });
    // As after a minute.
    await run("update ord_account set run_until = clock_timestamp()");
  }
  ord.behaviour.before = undefined;
  ord.behaviour.after = undefined;
  expect((await sync()).body).toMatchObject({ left: 0 });
  expect(await listed()).toEqual([]);
  expect(new Map(ord.stored)).toEqual(expected);
  expect((await send("showCreative", { params: { creativeId } })).body.erid).toBe(eridOf(creativeId));
});
