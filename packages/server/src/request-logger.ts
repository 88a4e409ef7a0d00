import type { FastifyBaseLogger } from "fastify";

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
