import { noOperatorParty, noPayee } from "@intermission/operator-api/parties";
import { type Database, statement } from "@intermission/postgres/open-database";
import { briefCache } from "@intermission/server/brief-cache";
import type { FastifyInstance, FastifyReply } from "fastify";
import { partyOf } from "../money/parties.ts";
import { adsTxt, type Supply, sellersJson } from "./supply-files.ts";

type Details = Readonly<Record<string, unknown>>;

const readSellers = statement<{ botId: string; details: Details | null }>(
  "supply.sellers",
  `select bots.bot_id as "botId", details from bots
   left join money_parties on account = 'publisher:' || bots.bot_id
   where not is_suspended and not exists (select from sample where bots.bot_id = any (sample.bot_ids)) order by bots.bot_id`,
);
const readOperator = statement<{ details: Details }>(
  "supply.operator",
  "select details from money_parties where account = 'operator'",
);
const readRecords = statement<{ record: string }>(
  "supply.records",
  "select distinct unnest(ads_txt) as record from buyers where is_active order by record",
);

async function readSupply(database: Pick<Database, "run">, host: string): Promise<Supply> {
  const sellers = (await database.run(readSellers, [])).map(({ botId, details }) => {
    const { legalName, domain } = partyOf(details ?? {}, noPayee);
    return { botId, name: domain === null ? null : legalName, domain };
  });
  const [operator] = await database.run(readOperator, []);
  const records = (await database.run(readRecords, [])).map(({ record }) => record);
  return { host, operator: partyOf(operator?.details ?? {}, noOperatorParty), sellers, records };
}

/** Crawlers of many buyers read the files; a change is in them a minute later. */
const KEPT_MS = 60_000;

/** `GET /ads.txt` and `GET /sellers.json`, from what this service knows when they are read. */
export function supplyRoutes(
  app: FastifyInstance,
  { database, publicUrl }: { database: Database; publicUrl: string },
): void {
  const { hostname } = new URL(publicUrl);
  const supply = briefCache<Supply>({ maxAgeMs: KEPT_MS, maxEntries: 1, load: (host) => readSupply(database, host) });
  const open = async (reply: FastifyReply): Promise<Supply> => {
    const found = await supply.get(hostname);
    if (found === undefined) throw new Error("a supply that is read is never missing");
    reply.header("access-control-allow-origin", "*").header("x-content-type-options", "nosniff");
    reply.header("cache-control", `public, max-age=${KEPT_MS / 1000}`);
    return found;
  };
  app.get("/ads.txt", async (_request, reply) => {
    const text = adsTxt(await open(reply));
    return reply.type("text/plain; charset=utf-8").send(text);
  });
  app.get("/sellers.json", async (_request, reply) => {
    const file = sellersJson(await open(reply));
    return reply.type("application/json; charset=utf-8").send(file);
  });
}
