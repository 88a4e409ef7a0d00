import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../scripts/processes.ts";
import { pages, snippetsOf } from "../scripts/snippets.ts";

/** Arguments of a call, with two levels of calls inside of them. */
const inside = String.raw`((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)`;

/** How a program begins to listen, and what must be in its arguments. Those with `default` listen on 127.0.0.1 by themselves. */
const listeners: readonly { readonly starts: RegExp; readonly default?: true }[] = [
  // node:http, Express, Fastify, NestJS.
  { starts: new RegExp(String.raw`(?<!\bfake)\.listen\(${inside}\)`, "g") },
  // Hono's server for Node, Bun and Deno; `server.serve()` of uvicorn takes nothing.
  { starts: new RegExp(String.raw`\bserve\((?!\))${inside}\)`, "gi") },
  { starts: new RegExp(String.raw`\bListenAndServe(?:TLS)?\(${inside}\)`, "g") },
  { starts: new RegExp(String.raw`\buvicorn\.(?:run|Config)\(${inside}\)`, "g"), default: true },
  { starts: new RegExp(String.raw`\bapp\.run\(${inside}\)`, "g"), default: true },
  { starts: /\bphp (-S \S+)/g },
  { starts: /\buvicorn ([\w.]+:\w+[^`\n]*)/g, default: true },
  { starts: /\bflask run([^`\n]*)/g, default: true },
  { starts: /\brunserver((?: [-\w.:[\]]+)*)/g, default: true },
];

/** The places of a text where a program would listen on other addresses than 127.0.0.1. */
function openListeners(text: string): string[] {
  return listeners.flatMap(({ starts, default: isDefault }) =>
    [...text.matchAll(starts)]
      .filter(([, words = ""]) => {
        const namesAddress = /\bhost|0\.0\.0\.0|\[?::\]?|\d+\.\d+\.\d+\.\d+/.test(words);
        return !words.includes("127.0.0.1") && !(isDefault && !namesAddress);
      })
      .map(([statement]) => statement),
  );
}

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "examples"], {
  cwd: root,
  encoding: "utf8",
}).split("\n");
const programs = tracked.filter((file) => /\.(ts|py|go|php|sh|json)$/.test(file) && !file.endsWith(".test.ts"));

test("every example listens on 127.0.0.1 only", () => {
  const texts = programs.map((file) => [file, readFileSync(join(root, file), "utf8")] as const);
  const listening = texts.filter(([, text]) => listeners.some(({ starts }) => text.search(starts) !== -1));
  expect(listening.length).toBeGreaterThan(8);
  expect(texts.flatMap(([file, text]) => openListeners(text).map((statement) => `${file}: ${statement}`))).toEqual([]);
});

test("so does every program on a page that a publisher copies, and the commands that start the examples", () => {
  const own = pages().filter((page) => !/CHANGELOG|decisions/.test(page));
  const faults = own.flatMap((page) =>
    snippetsOf(page).flatMap(({ line, text }) =>
      openListeners(text).map((statement) => `${page}:${line}: ${statement}`),
    ),
  );
  expect(faults).toEqual([]);
  expect(openListeners(readFileSync(join(root, "examples/README.md"), "utf8"))).toEqual([]);
});

describe("the check finds a program that listens on every address", () => {
  test.each([
    "app.listen(3000)",
    'app.listen(Number(PORT), () => console.log("it listens"));',
    'await app.listen({ port: 3000, host: "0.0.0.0" })',
    "createServer(toNodeHandler(receive)).listen(port)",
    "serve({ fetch: app.fetch, port: Number(PORT) });",
    "Bun.serve({ port: 3000, fetch: receive })",
    'http.ListenAndServe(":3000", nil)',
    'uvicorn.run(app, host="0.0.0.0", port=3000)',
    'app.run(host="0.0.0.0")',
    "php -S 0.0.0.0:3000 index.php",
    "uvicorn app:app --host 0.0.0.0 --port 3000",
    "flask run --host=0.0.0.0",
    "python manage.py runserver 0.0.0.0:3000",
  ])("%s", (statement) => expect(openListeners(statement)).toHaveLength(1));

  test.each([
    'app.listen(Number(PORT), "127.0.0.1", () => console.log("here"));',
    'serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(PORT) });',
    "uvicorn app:app --port 3000",
    "flask run --port 3000",
    "python manage.py runserver --noreload 127.0.0.1:3000",
    "`fake.listen()` serves it over HTTP",
  ])("%s is one that does not", (statement) => expect(openListeners(statement)).toEqual([]));
});
