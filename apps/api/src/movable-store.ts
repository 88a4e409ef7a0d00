import type { MovableStore } from "@intermission/server/move-store";
import { botSecretBox } from "./bots/served-bots.ts";
import type { CommandConfig } from "./config.ts";
import { migrations } from "./migrations.ts";

/** The store that the settings name, for the commands that move it. */
export function movableStore({ encryptionKey, previousEncryptionKey, ...store }: CommandConfig): MovableStore {
  return {
    ...store,
    schema: "api",
    migrations,
    sealedColumns: [{ table: "bots", column: "sealed_tokens", owner: "bot_id", primaryKey: ["bot_id"] }],
    encryptionKey,
    hasPreviousKey: previousEncryptionKey !== undefined,
    box: encryptionKey && botSecretBox(encryptionKey, previousEncryptionKey),
    files: undefined,
  };
}
