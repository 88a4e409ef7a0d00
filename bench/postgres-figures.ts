import { openDatabase, statement } from "../packages/postgres/src/open-database.ts";
import { keepBesideDatabase } from "./cores.ts";
import { familyMegabytes, familyMilliseconds, parentOf } from "./processor-time.ts";

/** Figures of a whole PostgreSQL server, for all of its databases. */
export interface PostgresFigures {
  /** Processor time of all its processes so far; NaN if the server runs on another machine. */
  processorMilliseconds(): number;
  /** Memory of all its processes, shared pages counted once; NaN if the server runs on another machine. */
  megabytes(): number;
  /** Size of its write-ahead log so far. */
  walBytes(): Promise<number>;
  /**
   * Prevents automatic checkpoints: the first change of a page after a checkpoint writes the whole page to the log. The
   * warm-up writes most of these pages, so that the measured log contains mainly rows and their index entries. Also uses
   * all shared buffers once: on first use the system clears their memory, 15 % of a click's processor time.
   */
  warmUp(): Promise<void>;
  /** Keeps a server that this run has started on the database's core; with another one it would change the machine. */
  keepOnCore(): void;
  /** The same database over the server's Unix socket. */
  socketUrlOf(url: string): Promise<string>;
  close(): Promise<void>;
}

const place = statement<{ pid: number; folders: string; port: string }>(
  "bench.place",
  `select pg_backend_pid() as pid, current_setting('unix_socket_directories') as folders, current_setting('port') as port`,
);
const position = statement<{ bytes: number }>(
  "bench.wal-position",
  "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::double precision as bytes",
);
const settings = [
  "checkpoint_timeout = '1h'",
  "max_wal_size = '16GB'",
  // Checkpoints recycle the files of the log. Without them each file is new, and would be filled with zeros before its use.
  "wal_init_zero = off",
];
/** Larger than shared_buffers (128 MB by default). */
const FILLER_ROWS = 20_000;
const updates = statement<{ name: string; updated: number; hot: number }>(
  "bench.updates",
  `select relname as name, n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_user_tables
   where schemaname = 'ad_service' and n_tup_upd > 0 order by n_tup_upd desc`,
);

export async function openPostgresFigures(url: string): Promise<PostgresFigures> {
  const database = await openFigures(url);
  const [{ pid, folders, port } = { pid: 0, folders: "", port: "" }] = await database.run(place, []);
  const postmaster = parentOf(pid);
  return {
    processorMilliseconds: () => (postmaster === undefined ? Number.NaN : familyMilliseconds(postmaster)),
    megabytes: () => (postmaster === undefined ? Number.NaN : familyMegabytes(postmaster)),
    walBytes: async () => (await database.run(position, []))[0]?.bytes ?? Number.NaN,
    keepOnCore() {
      if (postmaster !== undefined) keepBesideDatabase(postmaster);
    },
    async warmUp() {
      const texts = [
        ...settings.map((setting) => `alter system set ${setting}`),
        "select pg_reload_conf()",
        "create table filler (text text)",
        "alter table filler alter text set storage plain",
        `insert into filler select repeat('x', 7000) from generate_series(1, ${FILLER_ROWS})`,
        "drop table filler",
        "checkpoint",
      ];
      for (const [index, text] of texts.entries()) await database.run(statement(`bench.settle-${index}`, text), []);
    },
    async socketUrlOf(other) {
      const { pathname, username } = new URL(other);
      const query = new URLSearchParams({ host: folders.split(",")[0]?.trim() ?? "", port, user: username });
      return `postgres://${pathname}?${query}`;
    },
    close: database.close,
  };
}

/** The share of HOT updates of each table since the database was created. Complete after its connections are closed. */
export async function hotShares(url: string): Promise<{ name: string; updated: number; share: number }[]> {
  const database = await openFigures(url);
  try {
    const rows = await database.run(updates, []);
    return rows.map(({ name, updated, hot }) => ({ name, updated, share: hot / updated }));
  } finally {
    await database.close();
  }
}

function openFigures(databaseUrl: string) {
  return openDatabase({ databaseUrl, dataDirectory: "", schema: "bench_figures", migrations: {}, poolSize: 1 });
}
