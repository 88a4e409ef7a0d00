import { openDatabase } from "../../packages/postgres/src/open-database.ts";

interface StoreSize {
  readonly adService: number;
  readonly api: number;
}

/** Bytes of the tables of both servers, with their indexes. */
export async function bytesOfStore(databaseUrl: string): Promise<StoreSize> {
  const database = await openDatabase({
    databaseUrl,
    dataDirectory: "",
    schema: "bench_growth",
    migrations: {},
    poolSize: 1,
  });
  const ofSchema = (schema: string) =>
    `(select sum(pg_total_relation_size(oid))::double precision from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r')`;
  try {
    const text = `select ${ofSchema("ad_service")} as "adService", ${ofSchema("api")} as api`;
    const [size] = await database.run<StoreSize>({ name: "", text }, []);
    if (size === undefined) throw new Error("the store has no size");
    return size;
  } finally {
    await database.close();
  }
}
