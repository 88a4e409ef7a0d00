import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { invitePerson, newPersonId } from "../src/people/people.ts";
import { openSession } from "../src/people/sessions.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "o".repeat(32);
const origin = "http://ads.test";
let clip: Buffer<ArrayBuffer>;
let store: TestDatabase;
let fixture: AppFixture;
beforeAll(async () => {
  clip = Buffer.from(await readFile(join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4")));
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

type Headers = Record<string, string>;

/** The headers of a person of an advertiser, who is signed in. */
async function signIn(advertiser: string): Promise<Headers> {
  const { database } = store;
  const [personId, now] = [newPersonId(), fixture.clock.now];
  await database.run(
    {
      name: "",
      text: "insert into advertisers (advertiser_id, name, name_key) values ('adv_' || lower($1), $1, lower($1)) on conflict do nothing",
    },
    [advertiser],
  );
  const invitation = { email: `${personId}@ads.test`.toLowerCase(), role: "advertiser" as const, advertiser };
  await invitePerson({ database, secretBox: secretBox(Buffer.alloc(32)) }, { personId, invitation, now });
  const { token } = await database.transaction((tx) => openSession(tx, { personId, now }));
  return { cookie: `__Host-operator=${token}`, origin };
}

const call = (method: string, path: string, headers: Headers, body?: Buffer<ArrayBuffer> | string) =>
  fetch(new URL(path, fixture.address), {
    method,
    headers: { "tus-resumable": "1.0.0", ...headers },
    ...(body !== undefined && { body }),
  });

const begin = (caller: Headers, advertiser: string, bytes = clip.byteLength) =>
  call("POST", `/operator/v1/uploads?advertiser=${advertiser}`, { ...caller, "upload-length": String(bytes) });

const send = (caller: Headers, location: string, part: Buffer<ArrayBuffer>, offset: number) =>
  call(
    "PATCH",
    location,
    { ...caller, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
    part,
  );

const idIn = (location: string) => new URL(location, fixture.address).pathname.split("/").at(-1) ?? "";

async function finish(caller: Headers, location: string, advertiser: string) {
  const answer = await call(
    "POST",
    `/operator/v1/creatives/uploaded?advertiser=${advertiser}`,
    { ...caller, "content-type": "application/json" },
    JSON.stringify({ uploadId: idIn(location), name: "spring.mp4" }),
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test("an upload goes on where it was interrupted, and becomes its advertiser's draft", async () => {
  const shop = await signIn("Shop");
  const location = (await begin(shop, "Shop")).headers.get("location") ?? "";
  expect((await send(shop, location, clip.subarray(0, 5000), 0)).status).toBe(204);
  expect(await finish(shop, location, "Shop")).toMatchObject({
    status: 409,
    body: { error: { code: "UPLOAD_UNFINISHED", message: expect.stringContaining(`5000 of ${clip.byteLength}`) } },
  });
  expect((await call("HEAD", location, shop)).headers.get("upload-offset")).toBe("5000");
  expect((await send(shop, location, clip.subarray(4000), 4000)).status, "a part at another place").toBe(409);
  expect((await send(shop, location, clip.subarray(5000), 5000)).status).toBe(204);
  expect(await finish(shop, location, "Shop")).toMatchObject({
    status: 201,
    body: { name: "spring.mp4", review: "draft", advertiserId: "adv_shop", byteLength: clip.byteLength },
  });
  expect((await call("HEAD", location, shop)).status, "its bytes are a video now").toBe(404);
});

test("an upload of somebody else is answered as one that does not exist, also for the same advertiser", async () => {
  const [one, colleague, rival] = [await signIn("Shop"), await signIn("Shop"), await signIn("Rival")];
  const location = (await begin(one, "Shop")).headers.get("location") ?? "";
  for (const [other, advertiser] of [
    [colleague, "Shop"],
    [rival, "Rival"],
  ] as const) {
    const address = `/operator/v1/uploads/${idIn(location)}?advertiser=${advertiser}`;
    expect((await call("HEAD", address, other)).status).toBe(404);
    expect((await send(other, address, clip, 0)).status).toBe(404);
    expect((await call("DELETE", address, other)).status).toBe(404);
    expect((await finish(other, location, advertiser)).status).toBe(404);
  }
  expect((await begin(rival, "Shop")).status).toBe(404);
  expect((await call("POST", "/operator/v1/uploads", { "upload-length": "5" })).status).toBe(401);
  expect((await begin({ ...one, origin: "https://evil.test" }, "Shop")).status).toBe(403);
  expect((await call("DELETE", location, one)).status).toBe(204);
});

test("a person's unfinished uploads are listed with what has arrived, and one that is removed leaves room", async () => {
  const [shop, colleague] = [await signIn("Shop"), await signIn("Shop")];
  const named = { ...shop, "upload-metadata": `filename ${Buffer.from("весна.mp4").toString("base64")}` };
  const location = (await begin(named, "Shop")).headers.get("location") ?? "";
  expect((await send(shop, location, clip.subarray(0, 5000), 0)).status).toBe(204);
  for (let count = 0; count < 4; count += 1) expect((await begin(shop, "Shop")).status).toBe(201);
  expect((await begin(shop, "Shop")).status).toBe(429);
  const listOf = async (caller: Headers) =>
    ((await (await call("GET", "/operator/v1/creatives/uploads", caller)).json()) as { uploads: object[] }).uploads;
  const [listed, uploadId] = [await listOf(shop), idIn(location)];
  expect(listed).toHaveLength(5);
  const first = { uploadId, name: "весна.mp4", sent: 5000, byteLength: clip.byteLength };
  expect(listed).toContainEqual(first);
  expect(await listOf(colleague)).toEqual([]);
  const remove = (caller: Headers) => call("DELETE", `/operator/v1/creatives/uploads/${uploadId}`, caller);
  expect((await remove(colleague)).status, "another person's").toBe(404);
  const removed = await remove(shop);
  expect({ status: removed.status, body: await removed.json() }).toEqual({ status: 200, body: first });
  expect((await remove(shop)).status).toBe(404);
  expect((await begin(shop, "Shop")).status).toBe(201);
  for (const upload of await listOf(shop)) {
    const { uploadId } = upload as { uploadId: string };
    expect((await call("DELETE", `/operator/v1/creatives/uploads/${uploadId}`, shop)).status).toBe(200);
  }
});

test("a refused file is not an unfinished upload: after many of them, another one is accepted", async () => {
  const shop = await signIn("Shop");
  for (let count = 0; count < 6; count += 1) {
    const begun = await begin(shop, "Shop", 8);
    expect(begun.status).toBe(201);
    const location = begun.headers.get("location") ?? "";
    expect((await send(shop, location, Buffer.from("no video"), 0)).status).toBe(204);
    expect(await finish(shop, location, "Shop")).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: "file", code: "FILE_NO_VIDEO" }] } },
    });
    expect((await call("HEAD", location, shop)).status).toBe(404);
  }
});

test("a file that is too large, and too many unfinished uploads, are refused; abandoned ones are removed", async () => {
  const shop = await signIn("Shop");
  expect((await begin(shop, "Shop", 200 * 1024 * 1024)).status).toBe(413);
  for (let count = 0; count < 5; count += 1) expect((await begin(shop, "Shop")).status).toBe(201);
  const refused = await begin(shop, "Shop");
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    error: {
      code: "TOO_MANY_UPLOADS",
      message: expect.stringContaining("5 uploads of yours"),
      details: { values: { own: "5" } },
    },
  });
  const folder = join(fixture.mediaFolder, ".upload-parts");
  for (const name of (await readdir(folder)).filter((one) => one.endsWith(".json"))) {
    const path = join(folder, name);
    const upload = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...upload, creation_date: "2026-01-01T00:00:00Z" }));
  }
  expect((await begin(shop, "Shop")).status).toBe(201);
  expect(await readdir(folder)).toHaveLength(2);
});

test("of thirty uploads that begin at once on two nodes, a person has five and all people twenty", async () => {
  const media = { kind: "folder" as const, folder: fixture.mediaFolder, isMadeIfMissing: false };
  const second = await openAppFixture(store.database, { operatorToken, media });
  const folder = join(fixture.mediaFolder, ".upload-parts");
  const people = await Promise.all(
    ["One", "Two", "Three", "Four", "Five", "Six"].map(async (name) => ({
      name,
      headers: await signIn(name),
    })),
  );
  const beginAt = (node: AppFixture, { name, headers }: { name: string; headers: Headers }) =>
    fetch(new URL(`/operator/v1/uploads?advertiser=${name}`, node.address), {
      method: "POST",
      headers: { "tus-resumable": "1.0.0", "upload-length": "5000", ...headers },
    });
  const [one] = people;
  if (one === undefined) throw new Error("nobody");
  const nodes = [fixture, second];
  const before = (await readdir(folder)).filter((name) => !name.endsWith(".json")).length;
  const ofOne = await Promise.all(Array.from({ length: 30 }, (_, at) => beginAt(nodes[at % 2] ?? fixture, one)));
  expect(ofOne.filter(({ status }) => status === 201)).toHaveLength(5);
  expect(ofOne.filter(({ status }) => status === 429)).toHaveLength(25);
  const ofAll = await Promise.all(
    people.flatMap((person) => Array.from({ length: 5 }, (_, at) => beginAt(nodes[at % 2] ?? fixture, person))),
  );
  expect(ofAll.filter(({ status }) => status === 201)).toHaveLength(20 - before - 5);
  expect((await readdir(folder)).filter((name) => !name.endsWith(".json"))).toHaveLength(20);
  await second.close();
});
