import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";

const token = "a-metrics-token-of-more-than-32-characters";

describe("the app", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  test("without a token the open port serves no metrics, whatever is sent", async () => {
    const { address, close } = await openAppFixture(store.database);
    for (const authorization of ["", "Bearer ", "Bearer undefined"]) {
      expect((await fetch(`${address}/metrics`, { headers: { authorization } })).status).toBe(404);
    }
    await close();
  });

  test("with a token they are for who has it, and name routes but no codes", async () => {
    const metrics = { port: undefined, host: "127.0.0.1", token };
    const { address, close } = await openAppFixture(store.database, { metrics });
    expect((await fetch(`${address}/metrics`)).status).toBe(401);
    await (await fetch(`${address}/4YAbcd2234Efgh5678`)).text();
    const scrape = async () =>
      (await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    await expect.poll(scrape).toMatch(/http_request_duration_seconds_count\{route="\/:code",/);
    expect(await scrape()).not.toContain("4YAbcd2234Efgh5678");
    await close();
  });

  test("the app is ready while its database answers and its mini-app is built", async () => {
    const miniappDir = await mkdtemp(join(tmpdir(), "intermission-ready-"));
    const { address, close } = await openAppFixture(store.database, { miniappDir });
    const unbuilt = await fetch(`${address}/readyz`);
    expect(unbuilt.status).toBe(503);
    expect(await unbuilt.json()).toEqual({ status: "not-ready", reason: expect.stringContaining("`npm run build`") });
    await writeFile(join(miniappDir, "index.html"), "<!doctype html>");
    expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ status: "ready" });
    await close();
    await rm(miniappDir, { recursive: true });
  });

  test("without a built mini-app the app is ready if the mini-app is served by another host", async () => {
    const elsewhere = { miniappUrl: "https://static.example/app", miniappDir: "/nowhere" };
    const { address, close } = await openAppFixture(store.database, elsewhere);
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    await close();
  });
});
