// @module-tag long
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapiDocument } from "../apps/api/src/plain-http/openapi-document.ts";
import { plainCallsOf } from "../apps/api/src/plain-http/plain-calls.ts";
import { appRouter } from "../apps/api/src/router.ts";
import { type LiveStack, startLiveStack } from "./live-stack.ts";

/** In a folder of their own: openapi-typescript needs a TypeScript with a JavaScript API, which version 7 does not have. */
const generators = ["orval@8.38.0", "openapi-typescript@7.13.0", "typescript@5.9.3"];
let folder: string;
const run = (command: string, words: readonly string[]) => {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd: folder,
    encoding: "utf8",
    timeout: 180_000,
  });
  return { status, output: `${stdout}${stderr}${error ?? ""}` };
};
let stack: LiveStack;
let isInstalled = false;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "intermission-generated-"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const words = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel", "error"];
  const installed = run("npm", ["install", ...words, ...generators]);
  isInstalled = installed.status === 0;
  if (!isInstalled) console.log(`!!! generated clients were not tested: ${installed.output}`);
  stack = await startLiveStack();
  for (const api of ["client", "player", "operator"]) {
    const document = await (await fetch(`${stack.url}/${api}/v1/openapi.json`)).text();
    writeFileSync(join(folder, `${api}.json`), document);
  }
  writeFileSync(join(folder, "companion.json"), JSON.stringify(openapiDocument(plainCallsOf(appRouter))));
}, 300_000);
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A use of the types that the publishers of each API would write. */
const uses: Record<string, { readonly names: readonly string[]; readonly code: string }> = {
  client: {
    names: ["CreateCodeRequest", "CreateCodeResponse", "ListedEvent", "EventType", "WebhookEvent"],
    code: `export const request: CreateCodeRequest = { bot_id: "1", user_tg_id: "42" };
      export const linkOf = (answer: CreateCodeResponse): string | undefined => answer.direct_link;
      export const idsOf = (events: ListedEvent[]): string[] => events.map(({ event_id }) => event_id);
      export const event: EventType = "rewarded";
      export const userOf = (body: WebhookEvent): string => body.user_tg_id;`,
  },
  player: {
    names: ["OpenSessionRequest", "NamedReward"],
    code: `export const request: OpenSessionRequest = { bot_id: "1", init_data: "user=1" };
      export const amountOf = (reward: NamedReward): number => reward.amount;`,
  },
  operator: {
    names: ["AddBotRequest", "Campaign"],
    code: `export const request: AddBotRequest = { botId: "1", name: "My bot" };
      export const idOf = (campaign: Campaign): string => campaign.campaignId;`,
  },
  companion: {
    names: ["RewardEntry", "RewardsSpendRequest"],
    code: `export const request: RewardsSpendRequest = { userId: "42", amount: 1, idempotencyKey: "order 1" };
      export const amountOf = (entry: RewardEntry): number => entry.amount;`,
  },
};

/** Type-checks files of the folder strictly, and returns what TypeScript says of them. */
function compile(...files: readonly string[]): string {
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext"];
  const modules = ["--moduleResolution", "bundler", "--lib", "es2023,dom,dom.iterable"];
  const { status, output } = run("node_modules/.bin/tsc", [...options, ...modules, ...files]);
  return status === 0 ? "" : output;
}

describe("a client that is generated from an OpenAPI document", { timeout: 180_000 }, () => {
  test.for(Object.entries(uses))("by orval from the %s API compiles and names its types", ([api, use], { skip }) => {
    if (!isInstalled) skip("npm could not install the generators");
    const { names, code } = use;
    const output = { target: `./${api}-client.ts`, schemas: `./${api}-types`, client: "fetch" };
    const config = { [api]: { input: { target: `./${api}.json` }, output: { ...output, mode: "single" } } };
    writeFileSync(join(folder, `${api}.config.mjs`), `export default ${JSON.stringify(config)};`);
    const generated = run("node_modules/.bin/orval", ["--config", `${api}.config.mjs`]);
    expect(generated.status, generated.output).toBe(0);
    const text = `import type { ${names.join(", ")} } from "./${api}-types";\n${code}`;
    writeFileSync(join(folder, `${api}-use.ts`), text);
    expect(compile(`${api}-client.ts`, `${api}-use.ts`)).toBe("");
  });

  test.for(Object.entries(uses))(
    "by openapi-typescript from the %s API compiles and names its types",
    ([api, use], { skip }) => {
      if (!isInstalled) skip("npm could not install the generators");
      const { names, code } = use;
      const generated = run("node_modules/.bin/openapi-typescript", [`${api}.json`, "-o", `${api}-schema.ts`]);
      expect(generated.status, generated.output).toBe(0);
      const types = names.map((name) => `type ${name} = components["schemas"]["${name}"];`);
      const text = `import type { components } from "./${api}-schema";\n${types.join("\n")}\n${code}`;
      writeFileSync(join(folder, `${api}-schema-use.ts`), text);
      expect(compile(`${api}-schema-use.ts`)).toBe("");
    },
  );
});
