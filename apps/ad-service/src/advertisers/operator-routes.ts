import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import type { HttpError } from "@intermission/server/http-server";
import { conflict } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import {
  addAdvertiser,
  type ChangeAdvertiserOutcome,
  type CreditGate,
  describeAdvertiser,
  findAdvertiser,
  issuePostbackKey,
  type KnownAdvertiser,
  listAdvertisers,
  newAdvertiserId,
  renameAdvertiser,
  requireAdvertiser,
  setAdvertiserState,
} from "./advertisers.ts";

export interface AdvertiserOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  credit: CreditGate;
}

/** Advertisers. One exists from its first campaign on, or is added before it. Routes take its id or its name in any case. */
export function advertiserOperatorRoutes(
  scope: CheckedScope,
  { database, campaigns, credit }: AdvertiserOperatorDeps,
): void {
  const changeState = async (http: FastifyRequest, nameOrId: string, state: KnownAdvertiser["state"]) => {
    const { advertiserId } = await requireAdvertiser(database, nameOrId);
    await setAdvertiserState(database, { advertiserId, state, author: authorOf(http) });
    await campaigns.refresh();
    return describeAdvertiser(database, advertiserId);
  };

  serveOperatorRoutes(scope, advertiserRoutes, {
    async listAdvertisers({ query }) {
      const { rows: advertisers, next } = await listAdvertisers(database, query);
      return { advertisers, next };
    },

    async showAdvertiser({ params }) {
      const { advertiserId } = await requireAdvertiser(database, params.advertiser);
      return describeAdvertiser(database, advertiserId);
    },

    async addAdvertiser({ body: { name, ...terms }, http }) {
      const advertiserId = newAdvertiserId();
      const added = await database.transaction(async (tx) => {
        const known = await findAdvertiser(tx, name);
        if (known !== undefined) throw nameTaken(known.name);
        return addAdvertiser(tx, { advertiserId, name, terms, credit, author: authorOf(http) });
      });
      if (added === undefined) throw nameTaken(name);
      return describeAdvertiser(database, advertiserId);
    },

    async updateAdvertiser({ params, body, http }) {
      const { advertiserId } = await requireAdvertiser(database, params.advertiser);
      const changed = await renameAdvertiser(database, { advertiserId, ...body, author: authorOf(http) });
      requireRenamed(changed);
      await campaigns.refresh();
      return describeAdvertiser(database, advertiserId);
    },

    archiveAdvertiser: ({ params, http }) => changeState(http, params.advertiser, "archived"),
    restoreAdvertiser: ({ params, http }) => changeState(http, params.advertiser, "active"),

    async issuePostbackKey({ params, http }) {
      const { advertiserId, name } = await requireAdvertiser(database, params.advertiser);
      const key = await issuePostbackKey(database, { advertiserId, author: authorOf(http) });
      return { advertiserId, advertiser: name, key };
    },
  });
}

function requireRenamed(changed: ChangeAdvertiserOutcome): void {
  switch (changed.outcome) {
    case "changed":
      return;
    case "name-taken":
      throw nameTaken(changed.name);
    case "changed-since":
      throw conflict("ADVERTISER_CHANGED", "the advertiser was renamed since it was read: read it again");
    default:
      throw changed satisfies never;
  }
}

function nameTaken(name: string): HttpError {
  return conflict("ADVERTISER_EXISTS", `there is already an advertiser ${name}; names are case-insensitive`, { name });
}
