import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { consoleAddress, consoleOrigins } from "../people/console-address.ts";
import { missingConsole } from "./built-console.ts";
import { consolePageRoutes } from "./routes.ts";

const inline = "globalThis.setting = true;";
const html = `<!doctype html><html lang="en"><head><script>${inline}</script>
<script type="module" src="/console/assets/main-abc.js"></script></head></html>`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "intermission-console-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), html);
  await writeFile(join(folder, "assets/main-abc.js"), "export {};");
  await writeFile(join(folder, "assets/main-abc.js.gz"), "compressed");
});
afterAll(() => rm(folder, { recursive: true }));

async function get(url: string, headers: Record<string, string> = {}, consoleDir = folder) {
  const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
  consolePageRoutes(app, { consoleDir });
  const response = await app.inject({ url, headers });
  await app.close();
  return response;
}

test.each(["/console", "/console/", "/console/campaigns/cmp_1", "/console/invitation"])(
  "%s is the console's page, which browsers ask for at each opening",
  async (url) => {
    const { statusCode, body, headers } = await get(url);
    expect([statusCode, body]).toEqual([200, html]);
    expect(headers["cache-control"]).toBe("no-cache");
    const unchanged = await get(url, { "if-none-match": String(headers.etag) });
    expect([unchanged.statusCode, unchanged.body]).toEqual([304, ""]);
  },
);

test("the policy allows this server's files and the page's own script, and no frame around it, eval or inline style", async () => {
  const policy = String((await get("/console")).headers["content-security-policy"]);
  const hash = createHash("sha256").update(inline).digest("base64");
  expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`);
  expect(policy).toContain("style-src 'self'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("frame-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

test("files are kept by browsers, and are sent compressed as they were built", async () => {
  const { headers, body } = await get("/console/assets/main-abc.js", { "accept-encoding": "gzip" });
  expect(headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "gzip",
    "content-type": "text/javascript; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  expect(body).toBe("compressed");
});

test.each(["main-old.js", "../index.html", "..%2findex.html", "main-abc.js.gz"])(
  "what is no file of the page, as %s, is not found",
  async (name) => {
    const { statusCode, body } = await get(`/console/assets/${name}`);
    expect(body).not.toContain("compressed");
    if (statusCode !== 404) expect([statusCode, body]).toEqual([200, html]);
  },
);

test("without a build a person gets a page that says so, and the start names the command", async () => {
  const nowhere = join(folder, "nowhere");
  const { statusCode, body } = await get("/console", { accept: "text/html" }, nowhere);
  expect(statusCode).toBe(503);
  expect(body).toContain("npm run build");
  expect(await missingConsole(nowhere)).toBe(
    `there is no built console in ${nowhere}: run \`npm run build\`, or set CONSOLE_DIR`,
  );
  expect(await missingConsole(folder)).toBeUndefined();
});

test("while it is built a person gets a page that reloads by itself, and what is not a page an answer with Retry-After", async () => {
  const building = await mkdtemp(join(tmpdir(), "intermission-building-"));
  const mark = `${building}.building`;
  onTestFinished(() => rm(building, { recursive: true }));
  const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
  await cp(folder, building, { recursive: true });
  await writeFile(mark, String(process.pid));
  consolePageRoutes(app, { consoleDir: building });
  const ask = (url: string) => app.inject({ url, headers: { accept: "text/html", "accept-language": "ru" } });
  const page = await ask("/console/campaigns");
  expect({ status: page.statusCode, ...page.headers }).toMatchObject({ status: 503, "retry-after": "3" });
  const [, reload = ""] = /<script>(.*)<\/script>/.exec(page.body) ?? [];
  expect(reload).toContain("location.reload()");
  const hash = createHash("sha256").update(reload).digest("base64");
  expect(page.headers["content-security-policy"]).toContain(`script-src 'sha256-${hash}'`);
  expect(page.body).toContain("Эта страница ещё собирается");
  const asset = await ask("/console/assets/main-abc.js");
  expect([asset.statusCode, asset.headers["retry-after"]]).toEqual([503, "3"]);
  expect(asset.json()).toMatchObject({
    error: { code: "UNAVAILABLE", message: expect.stringContaining("being built") },
  });
  expect(await missingConsole(building)).toBeUndefined();

  await rm(mark);
  expect((await ask("/console/campaigns")).body).toBe(html);
  expect((await ask("/console/assets/main-abc.js")).statusCode).toBe(200);
  // What a killed build left means nothing.
  const killed = spawnSync("true").pid;
  await writeFile(`${folder}.building`, String(killed));
  expect((await get("/console")).statusCode).toBe(200);
  await rm(`${folder}.building`);
  await app.close();
});

test("on a machine of one's own the console is at localhost, and each of the machine's names may use it", () => {
  expect(consoleAddress("http://127.0.0.1:8701")).toBe("http://localhost:8701/console");
  expect(consoleAddress("https://ads.example")).toBe("https://ads.example/console");
  expect(consoleOrigins("http://127.0.0.1:8701")).toContain("http://127.0.0.1:8701");
  expect(consoleOrigins("https://ads.example")).toEqual(["https://ads.example"]);
});
