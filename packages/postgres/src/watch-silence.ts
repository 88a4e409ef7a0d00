import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { ofStore } from "./run-transaction.ts";

/** The database takes requests but does not answer: frozen, out of memory, or behind a network that drops packets. */
class DatabaseSilent extends Error {
  override readonly name = "DatabaseSilent";
  readonly code = "ETIMEDOUT";
}

export interface SilenceWatch {
  /** Throws `DatabaseSilent` while the database is silent. */
  requireAnswers(): void;
  /** Rejects with `DatabaseSilent` as soon as the database becomes silent, else settles as the work does. */
  unlessSilent<T>(work: Promise<T>): Promise<T>;
  /** The server answered something. */
  heard(): void;
  stop(): Promise<void>;
}

/**
 * Finds out within some 1.3 times `silentMs` that a database does not answer, and then until it answers again lets work fail
 * at once instead of after the timeout of each statement. Any answer counts; a connection of its own asks while none comes.
 * `breakConnections` ends the statements under way, whose outcome is unknown, as after a lost connection.
 *
 * A refused connection is an answer: then work fails at once by itself.
 */
export function watchSilence(options: {
  readonly connection: pg.ClientConfig;
  readonly silentMs: number;
  readonly breakConnections: (error: Error) => void;
  readonly logger: Record<"info" | "warn", (facts: object, message: string) => void> | undefined;
  /** What the error calls the server; "the database" by default. */
  readonly name?: string;
}): SilenceWatch {
  const { connection, silentMs, breakConnections, logger, name = "the database" } = options;
  const waiting = new Set<(error: Error) => void>();
  const lookEveryMs = silentMs / 4;
  let heardAt = performance.now();
  let silence: { error: DatabaseSilent; since: number } | undefined;
  const asking = askServer(connection);
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function heard(what: "answered" | "refused" = "answered"): void {
    heardAt = performance.now();
    if (silence === undefined) return;
    const message = { answered: "the database answers again", refused: "the database refuses connections" }[what];
    logger?.info({ seconds: Math.round((heardAt - silence.since) / 1000) }, message);
    silence = undefined;
  }

  function beSilent(): void {
    if (silence !== undefined) return;
    const error = new DatabaseSilent(`${name} has not answered for ${silentMs / 1000} s`);
    ofStore(error);
    silence = { error, since: heardAt };
    logger?.warn({ err: error }, "the database does not answer: until it does, requests are refused at once");
    for (const reject of waiting) reject(error);
    waiting.clear();
    breakConnections(error);
  }

  async function look(): Promise<void> {
    const isRecent = performance.now() - heardAt < lookEveryMs;
    if (isRecent && silence === undefined) return;
    const startedAt = performance.now();
    const result = await answeredWithin(asking.ask(), silentMs);
    if (isStopped) return;
    if (result !== "late") return heard(result);
    asking.drop();
    if (heardAt < startedAt) beSilent();
  }

  function lookSoon(): void {
    if (isStopped) return;
    timer = setTimeout(() => void look().finally(lookSoon), lookEveryMs);
    timer.unref();
  }
  lookSoon();

  return {
    heard: () => heard(),
    requireAnswers() {
      if (silence !== undefined) throw silence.error;
    },
    unlessSilent: (work) => settleEarlier(work, waiting),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await asking.end(silentMs);
    },
  };
}

/** Settles as the work does, or before it with the error that a function of `waiting` is called with. */
function settleEarlier<T>(work: Promise<T>, waiting: Set<(error: Error) => void>): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    const end = () => waiting.delete(reject);
    work.then(
      (result) => {
        end();
        resolve(result);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}

/** A connection that only asks whether the server answers. A refused one is an answer, too. */
function askServer(connection: pg.ClientConfig) {
  let client: pg.Client | undefined;

  function drop(): void {
    const old = client;
    client = undefined;
    old?.connection.stream.destroy();
  }

  return {
    drop,
    async ask(): Promise<"answered" | "refused"> {
      const isNew = client === undefined;
      const current = client ?? new pg.Client({ ...connection, connectionTimeoutMillis: 0 });
      client = current;
      if (isNew) current.on("error", () => {});
      try {
        if (isNew) await current.connect();
        await current.query("select");
        return "answered";
      } catch {
        if (client === current) drop();
        return "refused";
      }
    },
    async end(withinMs: number): Promise<void> {
      const last = client;
      client = undefined;
      if (last === undefined) return;
      // A server that does not answer never ends the connection.
      const giveUp = setTimeout(() => last.connection.stream.destroy(), withinMs);
      await last.end().catch(() => {});
      clearTimeout(giveUp);
    },
  };
}

async function answeredWithin<Answer>(answer: Promise<Answer>, milliseconds: number): Promise<Answer | "late"> {
  const late = new Promise<"late">((resolve) => setTimeout(resolve, milliseconds, "late").unref());
  const result = await Promise.race([answer, late]);
  if (result !== "late") return result;
  // After a pause of this process the timer ends before the answers that have arrived are read.
  await nextTurn();
  return Promise.race([answer, nextTurn("late" as const)]);
}
