import type { FastifyBaseLogger } from "fastify";
import { destination, type Logger, type LoggerOptions, pino } from "pino";
import { keptError, keptFacts, keptValue, pathsInBindings } from "./logged-facts.ts";
import { type UserNames, userNames, withoutUserIds } from "./logged-users.ts";
import type { LogLevel } from "./settings.ts";

export type { Logger };

const OUTAGE_LINE_EVERY_MS = 1000;

/**
 * Lets one line a second through about a database that cannot be reached: every request, loop and connection reports it.
 * `linesLeftOut` of the next line says how many were left out.
 */
function limitOutageLines(
  isOutage: (error: unknown) => boolean,
  nameUser: UserNames,
): NonNullable<LoggerOptions["hooks"]> {
  let nextAt = 0;
  let linesLeftOut = 0;
  return {
    logMethod([first, ...passed]: [unknown, ...unknown[]], method) {
      const facts = first instanceof Error ? { err: first } : first;
      const words = passed.length > 0 ? passed : messageOf(facts, nameUser);
      if (typeof facts !== "object" || facts === null || !isAboutOutage(facts, isOutage))
        return Reflect.apply(method, this, [first, ...words]);
      const now = performance.now();
      if (now < nextAt) {
        linesLeftOut += 1;
        return;
      }
      const counted = linesLeftOut > 0 ? { ...facts, linesLeftOut } : facts;
      nextAt = now + OUTAGE_LINE_EVERY_MS;
      linesLeftOut = 0;
      Reflect.apply(method, this, [counted, ...words]);
    },
  };
}

/** pino writes the message of an error that is logged without words as it is. */
function messageOf(facts: unknown, nameUser: UserNames): string[] {
  const error = typeof facts === "object" && facts !== null && "err" in facts ? facts.err : undefined;
  return error instanceof Error ? ["%s", withoutUserIds(error.message, nameUser)] : [];
}

function isAboutOutage(facts: object, isOutage: (error: unknown) => boolean): boolean {
  if ("unavailability" in facts && facts.unavailability === "out-of-reach") return true;
  return "err" in facts && isOutage(facts.err);
}

/**
 * Logs JSON lines to standard output. The destination is synchronous, so that no line is lost in a crash. Requests are
 * logged with their method and id only.
 */
export function createLogger(options: {
  readonly level: string;
  readonly name: string;
  /** Receives each line instead of standard output. */
  readonly write?: (line: string) => void;
  /** Whether an error is one of an unreachable database: of these, one line a second is logged. */
  readonly isOutage?: (error: unknown) => boolean;
  /** How lines name users. Without it they are hashed by a key of this process. */
  readonly nameUser?: UserNames;
}): Logger {
  const { write, isOutage = () => false, nameUser = userNames("hashed", undefined) } = options;
  return pino(
    {
      level: options.level,
      base: { name: options.name },
      hooks: limitOutageLines(isOutage, nameUser),
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { log: (facts) => keptFacts(facts, nameUser) },
      redact: {
        paths: pathsInBindings,
        censor: (value, path) => keptValue(String(path.at(-1)), value, { nameUser, depth: path.length - 1 }),
      },
      serializers: {
        err: (error: unknown) => keptError(error, nameUser),
        req: (request: { method?: string; id?: string }) => ({ method: request.method, id: request.id }),
      },
    },
    write ? { write } : destination({ dest: 1, sync: true }),
  );
}

type Bindings = Parameters<FastifyBaseLogger["child"]>[0];
type ChildOptions = Parameters<FastifyBaseLogger["child"]>[1];
type Arguments = [unknown, ...unknown[]];

/**
 * A request's logger, made with its first line: few requests log, and making one for each took 5 % of a click's time.
 * Fastify checks that a new logger has every method, so all are here; they cost nothing until one is called.
 */
export class RequestLogger implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  readonly #options: ChildOptions;
  #made: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, bindings: Bindings, options: ChildOptions) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  #logger(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(this.#bindings, this.#options);
    return this.#made;
  }

  #log(level: LogLevel, words: Arguments): void {
    const logger = this.#logger();
    Reflect.apply(logger[level], logger, words);
  }

  get level(): string {
    return this.#logger().level;
  }
  set level(level: string) {
    this.#logger().level = level;
  }
  child(bindings: Bindings, options?: ChildOptions): FastifyBaseLogger {
    return this.#logger().child(bindings, options);
  }
  fatal(...words: Arguments): void {
    this.#log("fatal", words);
  }
  error(...words: Arguments): void {
    this.#log("error", words);
  }
  warn(...words: Arguments): void {
    this.#log("warn", words);
  }
  info(...words: Arguments): void {
    this.#log("info", words);
  }
  debug(...words: Arguments): void {
    this.#log("debug", words);
  }
  trace(...words: Arguments): void {
    this.#log("trace", words);
  }
  silent(...words: Arguments): void {
    this.#log("silent", words);
  }
}
