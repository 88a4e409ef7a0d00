import { type CreateCodeResponse, createCodeResponse, errorEnvelope } from "@intermission/ad-core/client-api";
import { openTestDatabase, type TestDatabaseKind } from "@intermission/postgres/test-database";
import { expect } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { openAppStage } from "../app-stage.ts";
import type { Config } from "../config.ts";
import { migrations } from "../migrations.ts";

export type ClientStage = Awaited<ReturnType<typeof openClientStage>>;

/** A store, the app on it, and a publisher's bot that asks. */
export async function openClientStage(kind: TestDatabaseKind, changes: Partial<Config> = {}) {
  const store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
  const stage = await openAppStage(store.database, changes);
  const bot = await stage.newBot();

  function createCode(body: unknown, headers: Record<string, string> = bearer(bot.token)): Promise<Response> {
    return fetch(`${stage.address}/client/v1/codes`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  return {
    ...stage,
    database: store.database,
    bot,
    createCode,
    askFor: (userId: string, more: object = {}) => createCode({ bot_id: bot.botId, user_tg_id: userId, ...more }),
    get: (path: string, headers: Record<string, string> = bearer(bot.token)) =>
      fetch(`${stage.address}/client/v1${path}`, { headers }),
    async close() {
      await stage.close();
      await store.dispose();
    },
  };
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

export async function codeIn(response: Response): Promise<CreateCodeResponse> {
  return createCodeResponse.parse(await response.json());
}

/** The envelope and nothing else, with its status and code. */
export async function expectError(response: Response, status: number, code: string): Promise<void> {
  const body: unknown = await response.json();
  expect({ status: response.status, code: errorEnvelope.strict().parse(body).error.code }).toEqual({ status, code });
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(response.headers.get("x-request-id")).toBeTruthy();
}
