import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { issuePostbackKey, listAdvertisers, renameAdvertiser, unknownAdvertiser } from "./advertisers.ts";

export interface AdvertiserOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
}

/** Advertisers. One exists from its first campaign on; its name is case-insensitive. */
export function advertiserOperatorRoutes(scope: CheckedScope, { database, campaigns }: AdvertiserOperatorDeps): void {
  serveOperatorRoutes(scope, advertiserRoutes, {
    async listAdvertisers({ query }) {
      const { rows: advertisers, next } = await listAdvertisers(database, query);
      return { advertisers, next };
    },

    async issuePostbackKey(request) {
      const { advertiser } = request.params;
      const issued = await issuePostbackKey(database, { advertiser });
      if (issued.outcome === "unknown-advertiser") throw unknownAdvertiser(advertiser);
      return { advertiser: issued.advertiser, key: issued.key };
    },

    async renameAdvertiser(request) {
      const { advertiser } = request.params;
      const { newName } = request.body;
      const renamed = await renameAdvertiser(database, { advertiser, name: newName });
      if (renamed.outcome === "unknown-advertiser") throw unknownAdvertiser(advertiser);
      if (renamed.outcome === "name-taken") {
        throw conflict(
          "ADVERTISER_EXISTS",
          `there is already an advertiser ${renamed.name}; names are case-insensitive`,
        );
      }
      await campaigns.refresh();
      return { name: renamed.name };
    },
  });
}
