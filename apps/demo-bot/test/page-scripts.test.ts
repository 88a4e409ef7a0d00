import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { pageLanguages } from "@intermission/ad-core/page-language";
import { sign } from "@intermission/ad-core/signature";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { requestForms } from "../public/scripts/copy-request.js";
import { signatureOf, withOneByteChanged } from "../public/scripts/hmac.js";
import { languages } from "../public/scripts/languages.js";
import { partsOf } from "../public/scripts/message-parts.js";
import { english } from "../public/scripts/words-en.js";
import { russian } from "../public/scripts/words-ru.js";

const run = promisify(execFile);
const pageFolder = join(import.meta.dirname, "../public");

test("the menu has every language of the mini-app, by the name that its readers know", () => {
  expect(Object.keys(languages).sort()).toEqual(pageLanguages.toSorted());
});

test("addresses and commands of a message can be tapped, and nothing else becomes a link", () => {
  const linksOf = (words: string) =>
    partsOf(words)
      .filter(({ kind }) => kind !== "text")
      .map(({ kind, text }) => `${kind} ${text}`);
  expect(linksOf("See https://example.com/a?b=c#d, or send /bonus.")).toEqual([
    "link https://example.com/a?b=c#d",
    "command /bonus",
  ]);
  expect(linksOf("/start /bonus\n/coins")).toEqual(["command /start", "command /bonus", "command /coins"]);
  expect(linksOf("(http://127.0.0.1:3000/wiki/A_(b)) and (https://a.example)!")).toEqual([
    "link http://127.0.0.1:3000/wiki/A_(b)",
    "link https://a.example",
  ]);
  expect(linksOf("a/b, ftp://x.example, javascript:alert(1), https://, and/or, 1/2, //x.example")).toEqual([]);
});

test("the parts of any message are the whole message", () => {
  const pieces = fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom("/bonus", " ", "(", ").", "https://", "\n"));
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (words: string[]) => {
      const message = words.join("");
      const parts = partsOf(message);
      expect(parts.map(({ text }) => text).join("")).toBe(message);
      for (const { kind, text } of parts) if (kind === "link") expect(new URL(text).protocol).toMatch(/^https?:$/);
    }),
  );
});

test("the page computes the signatures of the contract, and one changed byte gives another", async () => {
  for (const body of ['{"event":"rewarded","user_tg_id":"42"}', "Привет 🎁", ""]) {
    expect(await signatureOf(body, "ad_token")).toBe(sign(Buffer.from(body), "ad_token"));
    const changed = withOneByteChanged(body);
    expect(changed).not.toBe(body);
    expect(await signatureOf(changed, "ad_token")).not.toBe(await signatureOf(body, "ad_token"));
  }
});

/** Runs a copied request, and returns what arrived. */
async function arrivalOf(name: keyof typeof requestForms, body: string) {
  let arrived: { headers: IncomingHttpHeaders; body: string } | undefined;
  const server = createServer(async (request, response) => {
    arrived = { headers: request.headers, body: await text(request) };
    response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = z.object({ port: z.int() }).parse(server.address());
  const headers = { "content-type": "application/json", "x-signature": "sha256=ab", "webhook-id": "evt_1", host: "x" };
  const source = requestForms[name]({ url: `http://127.0.0.1:${port}/it's`, headers, body });
  const commands = { curl: ["bash", "-c"], Python: ["python3", "-c"], TypeScript: [process.execPath, "-e"] } as const;
  const [command, option] = commands[name];
  try {
    expect((await run(command, [option, source])).stdout).toContain("ok");
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return arrived;
}

const hasPython = await run("python3", ["--version"]).then(
  () => true,
  () => false,
);
const hasCurl = await run("curl", ["--version"]).then(
  () => true,
  () => false,
);
const runnable = { curl: hasCurl, Python: hasPython, TypeScript: true };

for (const name of ["curl", "TypeScript", "Python"] as const) {
  test.runIf(runnable[name])(`a webhook copied as ${name} sends the same bytes and headers`, async () => {
    const body = `{"reference":"it's $HOME \\"x\\" \`y\` \\\\ ö🎁 @file"}`;
    const arrived = await arrivalOf(name, body);
    expect(arrived?.body).toBe(body);
    expect(arrived?.headers).toMatchObject({
      "content-type": "application/json",
      "x-signature": "sha256=ab",
      "webhook-id": "evt_1",
    });
  });
}

test("both languages have the same texts", () => {
  const shapeOf = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
      : typeof value;
  expect(shapeOf(russian)).toEqual(shapeOf(english));
});

/** Younger than Chromium 90, which some phones and web views still have. */
const tooYoung = {
  ".css": [/light-dark\(/, /color-mix\(/, /:has\(/, /:modal/, /^\s*(translate|scale|rotate):/m, /text-wrap/],
  ".js": [
    /Object\.hasOwn\b/,
    /\.at\(/,
    /structuredClone/,
    /randomUUID\(/,
    /\.inert\b/,
    /\(\?<[=!]/,
    /toSorted|toReversed/,
  ],
};

test("the page uses nothing that Chromium 90 lacks", () => {
  for (const [extension, patterns] of Object.entries(tooYoung)) {
    const files = readdirSync(pageFolder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(extension),
    );
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      const source = readFileSync(join(pageFolder, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      for (const pattern of patterns) expect(`${file}: ${pattern.exec(source)?.[0] ?? ""}`).toBe(`${file}: `);
    }
  }
});
