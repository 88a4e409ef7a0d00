import type { FastifyInstance } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";

export interface DirectLinkDeps {
  database: AdDatabase;
  campaigns: Pick<CampaignSnapshot, "candidates">;
  /** The key from the environment; those of the address hashes are derived from it, one for each day. */
  encryptionKey: Uint8Array;
  now?: () => Date;
}

/** `GET|HEAD|POST /{code}` at the root of the direct links' address. */
export function directLinkRoutes(_app: FastifyInstance, _deps: DirectLinkDeps): void {}
