import type { FastifyBaseLogger } from "fastify";
import { destination, type Logger, type LoggerOptions, pino, stdSerializers } from "pino";

export type { Logger };

/** Redacted at any depth: a reader could impersonate someone with them. */
const secretFields = new Set([
  "authorization",
  "cookie",
  "set-cookie",
  "token",
  "init_data",
  "initData",
  "secret",
  "x-signature",
  "webhook-signature",
]);
/** `formatters.log` does not see child bindings, so pino redacts these paths of them. Ours are flat. */
const pathsInBindings = [...secretFields, "code"].flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
/** Deeper values are left out, which also ends cycles. */
const MAX_DEPTH = 8;

/** A direct link's code: 16 or more letters and digits. SQLSTATEs and errnos are shorter, or contain underscores. */
const LINK_CODE = /^[0-9A-Za-z]{16,}$/;

/** A copy of the facts without secrets. `err` is left to its serializer. */
function withoutSecrets(facts: object, depth = 0): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) kept[name] = keptValue(name, value, depth);
  return kept;
}

function keptValue(name: string, value: unknown, depth: number): unknown {
  if (secretFields.has(name.toLowerCase()) || secretFields.has(name)) return "[redacted]";
  if (name === "code") return keptCode(value, depth);
  if (name === "err" && value instanceof Error) return depth === 0 ? value : withoutValues(value);
  if (typeof value !== "object" || value === null) return value;
  // Dates and addresses become text by themselves.
  if ("toJSON" in value) return value;
  if (depth === MAX_DEPTH) return "[deeper]";
  if (Array.isArray(value)) return value.map((one) => keptValue("", one, depth + 1));
  return withoutSecrets(value, depth + 1);
}

/** `code` has three meanings: a number is VAST's or HTTP's, text in an error is the error's code, other text is a link's. */
function keptCode(value: unknown, depth: number): unknown {
  if (value === undefined || typeof value === "number") return value;
  return depth > 0 && !LINK_CODE.test(String(value)) ? value : "[redacted]";
}

/** Fields of PostgreSQL errors that quote values of the row. */
const quotingFields = ["detail", "where", "internalQuery"] as const;

function withoutValues(error: Error) {
  const serialized = stdSerializers.err(error);
  for (const field of quotingFields) delete serialized[field];
  return withoutSecrets(serialized, 1);
}

const OUTAGE_LINE_EVERY_MS = 1000;

/**
 * Lets one line a second through about a database that cannot be reached: every request, loop and connection reports it.
 * `linesLeftOut` of the next line says how many were left out.
 */
function limitOutageLines(isOutage: (error: unknown) => boolean): NonNullable<LoggerOptions["hooks"]> {
  let nextAt = 0;
  let linesLeftOut = 0;
  return {
    logMethod([first, ...words]: [unknown, ...unknown[]], method) {
      const facts = first instanceof Error ? { err: first } : first;
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
}): Logger {
  const { write, isOutage } = options;
  return pino(
    {
      level: options.level,
      base: { name: options.name },
      ...(isOutage && { hooks: limitOutageLines(isOutage) }),
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { log: (facts) => withoutSecrets(facts) },
      redact: {
        paths: pathsInBindings,
        censor: (value, path) => keptValue(String(path.at(-1)), value, path.length - 1),
      },
      serializers: {
        err: withoutValues,
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

  #log(level: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent", words: Arguments): void {
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
