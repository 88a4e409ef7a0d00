import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@intermission/server/logger";
import { metricsRegistry } from "@intermission/server/metrics";
import { readConfig } from "../apps/ad-service/src/config.ts";
import { root } from "./processes.ts";

/** The APIs of the ad service, whose clients others write. */
export const publishedApis = ["client", "player", "operator"] as const;
type PublishedApi = (typeof publishedApis)[number];

type ApiDocument = Record<string, unknown>;

/** What this needs of the ad service's app. Its own types are those of a server, and scripts have those of a browser, too. */
interface App {
  ready(): Promise<unknown>;
  inject(path: string): Promise<{ statusCode: number; json(): ApiDocument }>;
  close(): Promise<void>;
}

/** The OpenAPI documents of the ad service as it stands, made from its routes without a database. */
export async function apiDocuments(): Promise<Record<PublishedApi, ApiDocument>> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-documents-"));
  const { createApp }: { createApp: (deps: object) => Promise<App> } = await import(
    join(root, "apps/ad-service/src/app.ts")
  );
  const app = await createApp({
    ...withoutStore(),
    config: readConfig({
      MODE: "demo",
      DATA_DIR: folder,
      PUBLIC_URL: "http://localhost:8080",
      ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    }),
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
    return Object.fromEntries(await Promise.all(documents)) as Record<PublishedApi, ApiDocument>;
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Routes are added, and none is called: what a request would need is there by name alone. */
function withoutStore(): Record<string, unknown> {
  const nothing: unknown = new Proxy(() => nothing, {
    get: (_, name) => (name === "then" || typeof name === "symbol" ? undefined : nothing),
    apply: () => nothing,
  });
  const names = ["database", "reports", "makePartitions", "media", "bots", "apiTokens", "secretBox", "campaigns"];
  names.push("deliveries", "views", "endpointTests", "requests", "isControlSocket");
  return Object.fromEntries(names.map((name) => [name, nothing]));
}
