import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@intermission/server/logger";
import { metricsRegistry } from "@intermission/server/metrics";
import { type AppDeps, createApp } from "../apps/ad-service/src/app.ts";
import { readConfig } from "../apps/ad-service/src/config.ts";

/** The APIs of the ad service, whose clients others write. */
export const publishedApis = ["client", "player", "operator"] as const;
export type PublishedApi = (typeof publishedApis)[number];

/** The OpenAPI documents of the ad service as it stands, made from its routes without a database. */
export async function apiDocuments(): Promise<Record<PublishedApi, Record<string, unknown>>> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-documents-"));
  const environment = {
    MODE: "demo",
    DATA_DIR: folder,
    PUBLIC_URL: "http://localhost:8080",
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  };
  const app = await createApp({
    ...withoutStore(),
    config: readConfig(environment),
    currency: "USD",
    logger: createLogger({ level: "silent", name: "documents" }),
    registry: metricsRegistry({ service: "ad-service", version: "documents" }),
  });
  try {
    await app.ready();
    const documents = publishedApis.map(async (api) => {
      const answer = await app.inject(`/${api}/v1/openapi.json`);
      if (answer.statusCode !== 200) throw new Error(`the document of the ${api} API is answered ${answer.statusCode}`);
      return [api, answer.json()] as const;
    });
    return Object.fromEntries(await Promise.all(documents)) as Awaited<ReturnType<typeof apiDocuments>>;
  } finally {
    await app.close();
  }
}

/** Routes are added, and none is called: what a request would need has its name alone. */
function withoutStore(): Omit<AppDeps, "config" | "currency" | "logger" | "registry"> {
  const nothing = new Proxy(() => nothing, {
    get: (_, name): unknown => (name === "then" || typeof name === "symbol" ? undefined : nothing),
    apply: (): unknown => nothing,
  }) as never;
  const named = [
    "database",
    "reports",
    "makePartitions",
    "media",
    "bots",
    "apiTokens",
    "secretBox",
    "campaigns",
    "deliveries",
    "views",
    "endpointTests",
    "requests",
    "isControlSocket",
  ] as const;
  return Object.fromEntries(named.map((name) => [name, nothing])) as unknown as ReturnType<typeof withoutStore>;
}
