import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { forgetBot, openBots } from "../bots/bots.ts";
import { pinnedScript } from "../bots/kept-scripts.ts";
import { migrations } from "../migrations.ts";
import { contentSecurityPolicy, embedVideo } from "./built-page.ts";
import { miniappPageRoutes } from "./routes.ts";

const inline = 'document.documentElement.dataset.start = "1";';
const html = `<!doctype html><html><head><script>${inline}</script>
<script type="module" src="/app/assets/main.js"></script></head><body><div id="root"></div></body></html>`;

describe("the mini-app's page", () => {
  let store: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    const options = { schema: "ad_service", migrations } as const;
    store = await openTestDatabase(options);
    const bots = `insert into bots (bot_id, code_prefix, name, username, publisher_api_url, created_at, updated_at) values
      ('701', 'aaaa', 'Bot', null, 'https://api.publisher.example/trpc', now(), now()),
      ('702', 'bbbb', 'Bot', null, 'javascript:alert(1)', now(), now()),
      ('703', 'cccc', 'Bot', 'coin_bot', null, now(), now()),
      ('704', 'dddd', 'Bot', 'x"><script>', null, now(), now())`;
    await store.database.run({ name: "", text: bots }, []);
    folder = await mkdtemp(join(tmpdir(), "intermission-miniapp-"));
    await mkdir(join(folder, "built", "assets"), { recursive: true });
    await writeFile(join(folder, "built", "index.html"), html);
    await writeFile(join(folder, "built", "assets", "main.js"), "export {};");
    await mkdir(join(folder, "built", "preview", "assets"), { recursive: true });
    await writeFile(join(folder, "built", "preview", "index.html"), "<!doctype html><title>Preview</title>");
    await writeFile(join(folder, "built", "preview", "assets", "player.js"), "export {};");
  });
  afterAll(async () => {
    await store.dispose();
    await rm(folder, { recursive: true });
  });

  async function get(url: string, headers: Record<string, string> = {}, miniappDir = join(folder, "built")) {
    const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    const demoChatOrigin = "http://127.0.0.1:8700";
    const shared = { publicUrl: "https://ads.example", isPlainHttpAllowed: false, demoChatOrigin };
    miniappPageRoutes(app, { database: store.database, bots: openBots(store.database), miniappDir, ...shared });
    const response = await app.inject({ url, headers });
    await app.close();
    return response;
  }

  test("the console's preview may be framed by this service alone, names no bot, and takes videos of any host", async () => {
    const { statusCode, body, headers } = await get("/app/preview");
    expect([statusCode, body]).toEqual([200, "<!doctype html><title>Preview</title>"]);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).toContain("media-src 'self' https:;");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect((await get("/app/preview/assets/player.js")).body).toBe("export {};");
    expect((await get("/app/preview/assets/other.js")).statusCode).toBe(404);
    expect((await get("/app/preview", {}, join(folder, "nowhere"))).statusCode).toBe(503);
  });

  test("contains the video that a code's opening will show, with every address escaped", () => {
    const page = '<html lang="en"><body><div class="video-slot"></div></body></html>';
    const video = {
      fileName: "a.mp4",
      url: 'https://ads.example/media/a.mp4?x="><script>&y=$&',
      width: 320,
      height: 180,
    };
    expect(embedVideo(page, { ...video, posterUrl: "https://ads.example/media/a.jpg" })).toBe(
      '<html data-video="a.mp4" lang="en"><body><div class="video-slot"><video class="video" muted playsinline ' +
        'preload="metadata" width="320" height="180" poster="https://ads.example/media/a.jpg" ' +
        'src="https://ads.example/media/a.mp4?x=&#34;&#62;&#60;script&#62;&#38;y=$&#38;"></video></div></body></html>',
    );
  });

  test("names the bot's address in the page and as a QR code, and nothing that is not a username", async () => {
    const { body, headers } = await get("/app/703");
    expect(body).toContain('<meta name="bot-link" content="https://t.me/coin_bot" /></head>');
    const etag = String(headers.etag);
    expect((await get("/app/703", { "if-none-match": etag })).statusCode).toBe(304);
    const code = await get("/app/703/qr.svg");
    expect(code.headers["content-type"]).toBe("image/svg+xml");
    expect(code.headers["content-security-policy"]).toBe("default-src 'none'");
    // Version 2, 25 modules wide, with a quiet zone of four modules.
    expect(code.body).toMatch(/^<\?xml .*<svg [^>]*viewBox="-4 -4 33 33"/s);
    for (const botId of ["701", "704"]) {
      expect((await get(`/app/${botId}`)).body).not.toContain("bot-link");
      expect((await get(`/app/${botId}/qr.svg`)).statusCode).toBe(404);
    }
    expect((await get("/app/704")).body).not.toContain('<script>">');
  });

  test("allows videos from the hosts of creatives; videos and pictures from any https host only if there is a VAST tag", async () => {
    const sources = async (directive: string) => {
      const policy = String((await get("/app/701")).headers["content-security-policy"]);
      return new RegExp(`${directive} ([^;]*)`).exec(policy)?.[1];
    };
    const mediaSrc = () => sources("media-src");
    const own = "'self' https://ads.example";
    const ownPictures = "'self' data: https://ads.example";
    expect(await mediaSrc()).toBe(own);
    const video = `insert into creatives
      (creative_id, kind, url, media_type, byte_length, duration_ms, width, height, created_at) values
      ('cre_a', 'address', 'https://cdn.example:8443/spring.mp4?x=1', 'video/mp4', 1, 5000, 1, 1, now())`;
    await store.database.run({ name: "", text: video }, []);
    expect(await mediaSrc()).toBe(`${own} https://cdn.example:8443`);
    expect(await sources("img-src")).toBe(ownPictures);
    const tag = `insert into creatives (creative_id, kind, url, created_at) values
      ('cre_t', 'vast', 'https://ads.example/vast', now())`;
    await store.database.run({ name: "", text: tag }, []);
    expect(await mediaSrc()).toBe(`${own} https:`);
    expect(await sources("img-src")).toBe(`${ownPictures} https:`);
    await store.database.run({ name: "", text: "delete from creatives" }, []);
  });

  test("has a policy for each bot: its own scripts, this service and that publisher's API", async () => {
    const response = await get("/app/701?code=x");
    expect(response.statusCode).toBe(200);
    expect(response.body).toBe(html);
    const hash = createHash("sha256").update(inline).digest("base64");
    expect(String(response.headers["content-security-policy"]).split("; ")).toEqual([
      "default-src 'none'",
      `script-src 'self' 'sha256-${hash}'`,
      "style-src 'self'",
      "img-src 'self' data: https://ads.example",
      "media-src 'self' https://ads.example",
      "font-src 'self'",
      "connect-src 'self' https://ads.example https://api.publisher.example",
      "frame-ancestors https://web.telegram.org https://*.telegram.org http://127.0.0.1:8700",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(response.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "accept-ch": "ECT, Downlink, Save-Data, Sec-CH-Viewport-Width, Sec-CH-DPR",
      "permissions-policy": expect.stringContaining("autoplay=(self)"),
    });
    expect(response.headers["set-cookie"]).toBeUndefined();
  });

  test("may be indexed by search engines, but no address with a code in it", async () => {
    expect((await get("/app/701")).headers["x-robots-tag"]).toBeUndefined();
    expect((await get("/app/701?code=x")).headers["x-robots-tag"]).toBe("noindex");
  });

  test("is not sent again while neither it nor the bot's policy changed", async () => {
    const etag = String((await get("/app/701")).headers.etag);
    expect((await get("/app/701", { "if-none-match": etag })).statusCode).toBe(304);
    expect((await get("/app/702", { "if-none-match": etag })).statusCode).toBe(200);
  });

  test.each(["br", "gzip, deflate, br, zstd", "gzip;q=0.5,BR;q=0.9"])("is sent as brotli to '%s'", async (accepted) => {
    const plain = await get("/app/701");
    const response = await get("/app/701", { "accept-encoding": accepted });
    expect(response.headers).toMatchObject({
      "content-encoding": "br",
      "content-type": "text/html; charset=utf-8",
      vary: "accept-encoding",
      "cache-control": "no-cache",
      "content-security-policy": plain.headers["content-security-policy"],
    });
    expect(brotliDecompressSync(response.rawPayload).toString()).toBe(html);
    const etag = String(response.headers.etag);
    expect(etag).not.toBe(plain.headers.etag);
    const again = { "accept-encoding": accepted, "if-none-match": etag };
    expect((await get("/app/701", again)).statusCode).toBe(304);
    expect((await get("/app/701", { "if-none-match": etag })).statusCode).toBe(200);
  });

  test.each(["", "gzip", "br;q=0", "br ; q=0.000", "brotli", "*"])("is sent as it is to '%s'", async (accepted) => {
    const response = await get("/app/701", { "accept-encoding": accepted });
    expect(response.headers["content-encoding"]).toBeUndefined();
    expect(response.headers.vary).toBe("accept-encoding");
    expect(response.body).toBe(html);
  });

  test("of a bot with an invalid API address gets no wider policy", async () => {
    const policy = String((await get("/app/702")).headers["content-security-policy"]);
    expect(policy).toContain("connect-src 'self' https://ads.example;");
  });

  test.each([
    { header: "ru-RU,ru;q=0.9,en;q=0.8", language: "ru" },
    { header: "en;q=0.5, ru;q=0.4", language: "en" },
    { header: "pl", language: "en" },
    { header: "", language: "en" },
  ])("of an unknown bot is a friendly page: '$header' reads $language", async ({ header, language }) => {
    for (const path of ["/app/999", "/app/nonsense"]) {
      const response = await get(path, { "accept-language": header });
      expect(response.statusCode).toBe(404);
      expect(response.body).toContain(`<html lang="${language}" dir="ltr">`);
    }
  });

  test("without a build reports what to run, and works as soon as it is built", async () => {
    const early = join(folder, "early");
    const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    miniappPageRoutes(app, {
      database: store.database,
      bots: openBots(store.database),
      miniappDir: early,
      publicUrl: "https://ads.example",
      isPlainHttpAllowed: false,
    });
    const missing = await app.inject({ url: "/app/701" });
    expect(missing.statusCode).toBe(503);
    expect(missing.body).toContain("npm run build");
    await mkdir(early);
    await writeFile(join(early, "index.html"), html);
    expect((await app.inject({ url: "/app/701" })).statusCode).toBe(200);
    await app.close();
  });

  test("its files are cached forever, and no other files are served", async () => {
    const response = await get("/app/assets/main.js");
    expect(response.statusCode).toBe(200);
    expect(response.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(response.headers["content-type"]).toMatch(/javascript/);
    for (const path of ["/app/assets/..%2findex.html", "/app/assets/none.js", "/app/assets/"]) {
      expect([403, 404]).toContain((await get(path)).statusCode);
    }
  });

  test("its files are sent compressed if the build compressed them", async () => {
    await writeFile(join(folder, "built", "assets", "main.js.br"), "brotli");
    const response = await get("/app/assets/main.js", { "accept-encoding": "gzip, br" });
    expect(response.headers).toMatchObject({
      "content-encoding": "br",
      "content-type": expect.stringMatching(/javascript/),
    });
  });

  test("only pages of registered origins may show the frame, and only they are told to it; the script is any page's", async () => {
    const miniappDir = await mkdtemp(join(tmpdir(), "intermission-in-app-"));
    onTestFinished(() => rm(miniappDir, { recursive: true }));
    const assets = join(miniappDir, "embed", "assets");
    await mkdir(assets, { recursive: true });
    await writeFile(
      join(miniappDir, "embed", "index.html"),
      "<html lang><head><script src=a></script></head><body></body></html>",
    );
    for (const name of ["v1", "adsgram", "monetag"]) await writeFile(join(assets, `sdk-${name}.js`), name);
    const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    onTestFinished(() => app.close());
    const shared = { publicUrl: "https://ads.example", isPlainHttpAllowed: false };
    const bots = openBots(store.database);
    miniappPageRoutes(app, { database: store.database, bots, miniappDir, ...shared });
    await app.ready();
    const setOrigins = async (origins: string[]) => {
      const text = "update bots set app_origins = $1 where bot_id = '701'";
      await store.database.run({ name: "", text }, [origins]);
      forgetBot(bots, "701");
    };
    const frame = async () => {
      const { headers, body } = await app.inject({ url: "/embed/701" });
      const [ancestors] = /frame-ancestors [^;]*/.exec(String(headers["content-security-policy"])) ?? [];
      return { ancestors, named: /content="([^"]*)"/.exec(body)?.[1] };
    };
    expect(await frame()).toEqual({ ancestors: "frame-ancestors 'none'", named: "" });
    const origins = ["https://game.example", "https://web.telegram.org"];
    await setOrigins(origins);
    expect(await frame()).toEqual({ ancestors: `frame-ancestors ${origins.join(" ")}`, named: origins.join(" ") });
    await setOrigins([]);
    expect((await app.inject({ url: "/embed/999" })).statusCode).toBe(404);

    for (const name of ["v1", "adsgram", "monetag"]) {
      const url = `/sdk/${name}.js?bot=701`;
      const script = await app.inject({ url });
      expect(script.body).toBe(name);
      expect(script.headers).toMatchObject({ "cache-control": "no-cache", "access-control-allow-origin": "*" });
      const etag = String(script.headers.etag);
      expect((await app.inject({ url, headers: { "if-none-match": etag } })).statusCode).toBe(304);
    }

    const pinned = await pinnedScript(store.database, "");
    const integrity = `sha384-${createHash("sha384").update("v1").digest("base64")}`;
    expect(pinned).toMatchObject({ url: expect.stringMatching(/^\/sdk\/v1\.[\w-]{22}\.js$/), integrity });
    // A later build serves another script, and the page that names the hash keeps its own.
    await writeFile(join(assets, "sdk-v1.js"), "v1 of the next build");
    const next = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
    onTestFinished(() => next.close());
    miniappPageRoutes(next, { database: store.database, bots, miniappDir, ...shared });
    await next.ready();
    expect((await next.inject({ url: "/sdk/v1.js" })).body).toBe("v1 of the next build");
    const kept = await next.inject({ url: pinned?.url ?? "" });
    expect(kept.body).toBe("v1");
    expect(kept.headers).toMatchObject({
      "cache-control": expect.stringContaining("immutable"),
      "access-control-allow-origin": "*",
    });
    expect((await pinnedScript(store.database, ""))?.integrity).not.toBe(integrity);
    expect((await next.inject({ url: "/sdk/v1.0123456789012345678901.js" })).statusCode).toBe(404);
  });
});

test("after a new build the running server's page and the files that it names are the ones that it read at its start", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const text = `insert into bots (bot_id, code_prefix, name, created_at, updated_at) values ('701', 'aaaa', 'Bot', now(), now())`;
  await store.database.run({ name: "", text }, []);
  const miniappDir = await mkdtemp(join(tmpdir(), "intermission-builds-"));
  onTestFinished(() => rm(miniappDir, { recursive: true }));
  const build = async (version: string) => {
    await rm(join(miniappDir, "assets"), { recursive: true, force: true });
    await mkdir(join(miniappDir, "assets"));
    await writeFile(join(miniappDir, "index.html"), `<script type="module" src="/app/assets/${version}.js"></script>`);
    await writeFile(join(miniappDir, "assets", `${version}.js`), `"${version}"`);
    await writeFile(join(miniappDir, "assets", `${version}.js.br`), brotliCompressSync(`"${version}"`));
  };
  await build("one");
  const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
  onTestFinished(() => app.close());
  const shared = { publicUrl: "https://ads.example", isPlainHttpAllowed: false };
  miniappPageRoutes(app, { database: store.database, bots: openBots(store.database), miniappDir, ...shared });
  await app.ready();
  for (const version of ["two", "three"]) {
    await build(version);
    const page = await app.inject({ url: "/app/701" });
    expect(page.body).toContain("/app/assets/one.js");
    const file = await app.inject({ url: "/app/assets/one.js" });
    expect([file.statusCode, file.body]).toEqual([200, '"one"']);
    const packed = await app.inject({ url: "/app/assets/one.js", headers: { "accept-encoding": "br" } });
    expect(brotliDecompressSync(packed.rawPayload).toString()).toBe('"one"');
    // Another node, which was restarted, may have sent the newer page.
    expect((await app.inject({ url: `/app/assets/${version}.js` })).body).toBe(`"${version}"`);
  }
});

test("a policy contains origins only, never what follows them", () => {
  const page = { scriptHashes: [], styleHashes: [] };
  const publisherApi = "https://a.example/x; script-src *";
  const policy = contentSecurityPolicy(page, { service: "http://127.0.0.1:8701/", publisherApi }, []);
  expect(policy).toContain("connect-src 'self' http://127.0.0.1:8701 https://a.example;");
  expect(policy).not.toContain("*;");
});
