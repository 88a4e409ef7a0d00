import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const html = '<!doctype html><html><head></head><body><div id="root"></div></body></html>';
const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

describe("the addresses of the mini-app", () => {
  let store: TestDatabase;
  let fixture: AppFixture;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "intermission-addresses-"));
    await mkdir(join(folder, "built", "assets"), { recursive: true });
    await writeFile(join(folder, "built", "index.html"), html);
  });
  afterAll(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    fixture = await openAppFixture(store.database, { miniappDir: join(folder, "built") });
  });
  afterEach(async () => {
    await fixture.close();
    await store.dispose();
  });

  const get = (path: string, headers: Record<string, string> = browser) =>
    fetch(`${fixture.address}${path}`, { headers, redirect: "manual" });

  /** Follows redirects as a browser does, at most three times. */
  async function follow(path: string) {
    let at = path;
    for (let hops = 0; hops <= 3; hops++) {
      const response = await get(at);
      const location = response.headers.get("location");
      if (location === null) return { at, status: response.status, body: await response.text() };
      expect(location).toMatch(/^\/[^/]/);
      at = location;
    }
    throw new Error(`${path} redirects endlessly`);
  }

  test("a trailing or doubled slash before the query leads to the bot's page, and the query is kept", async () => {
    const { botId } = await fixture.newBot();
    await fixture.newBot();
    for (const path of [`/app/${botId}`, `/app/${botId}/`, `/app/${botId}//`, `/app//${botId}`, `//app//${botId}/`]) {
      const { at, status, body } = await follow(`${path}?user_tg_id=1&code=abc%2Fd`);
      expect({ path, status, body }).toEqual({ path, status: 200, body: html });
      expect(at).toMatch(new RegExp(`/${botId}/*\\?user_tg_id=1&code=abc%2Fd$`));
    }
  });

  test("if there is one bot, an address without a bot's id leads to that bot", async () => {
    const { botId } = await fixture.newBot();
    for (const path of ["/app", "/app/", "//app", "/app//"]) {
      expect(await follow(`${path}?user_tg_id=1`)).toEqual({
        at: `/app/${botId}?user_tg_id=1`,
        status: 200,
        body: html,
      });
      expect((await follow(path)).at).toBe(`/app/${botId}`);
    }
  });

  test("a redirect to the only bot is not cached: a second bot may be added", async () => {
    await fixture.newBot();
    const response = await get("/app?user_tg_id=1");
    expect(response.status).toBe(302);
    expect(response.headers.get("cache-control")).toBe("no-store");
    await fixture.newBot();
    await expect.poll(async () => (await get("/app")).status).toBe(404);
  });

  test("if there are no bots or several, an address without a bot's id returns a page that reports it", async () => {
    for (const bots of [0, 2]) {
      for (let count = 0; count < bots; count++) await fixture.newBot();
      const response = await get("/app?user_tg_id=1");
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await response.text()).toContain("/app/&lt;bot id&gt;");
    }
  });

  test("a page that a person opens is never JSON, whatever its path", async () => {
    const { botId } = await fixture.newBot();
    const lost = [`/app/${botId}/x`, "/app/x/y", "/app/index.html", "/app/assets/gone.js", "/", "/favicon.ico", "/x/y"];
    for (const path of [...lost, "//evil.example/app", "/app/%2e%2e/x", `/app/${"9".repeat(300)}`, "/app/%zz"]) {
      const response = await get(path);
      expect({ path, type: response.headers.get("content-type") }).toMatchObject({ type: "text/html; charset=utf-8" });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(await response.text()).toMatch(/^<!doctype html>/);
    }
  });

  test("an address that is no text leads nowhere, and is not malformed for the person who opens it", async () => {
    const code = "ABCDEFGHJKMNPQRSTU";
    for (const path of ["/%", "/%zz", "/x%E2%80", "/x/%FF", `/${code}/x%`, `/${code}%zz`, `/${code}X.`]) {
      const response = await get(path);
      const type = response.headers.get("content-type");
      expect([path, response.status, type]).toEqual([path, 404, "text/html; charset=utf-8"]);
    }
  });

  test("programs still get the error body, and so does every request to an API", async () => {
    await fixture.newBot();
    for (const [path, headers] of [
      ["/x/y", { accept: "application/json" }],
      ["/client/v1/unknown", browser],
      ["/player/v1/unknown", browser],
      ["/operator/v1/unknown", browser],
    ] as const) {
      const response = await get(path, headers);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.json()).toMatchObject({ error: { code: expect.any(String) } });
    }
  });
});
