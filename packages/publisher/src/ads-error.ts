interface RequestFacts {
  readonly status?: number | undefined;
  readonly code: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

// Known to all copies of this package in a process, such as those of `import` and of `require()`: an error of another copy's
// class of this name is an instance, too.
export const className = Symbol.for("@intermission/publisher error");

function isInstance(this: { readonly [className]?: string }, value: unknown): boolean {
  return Object.hasOwn(this, className)
    ? (value as { [className]?: unknown } | null | undefined)?.[className] === this[className]
    : Function.prototype[Symbol.hasInstance].call(this, value);
}

/** A request that was refused or not answered. */
export abstract class RequestError extends Error {
  static override readonly [Symbol.hasInstance] = isInstance;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  readonly code: string;
  /** When to try again; undefined if the server did not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: RequestFacts) {
    super(message, facts);
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The ad service refused, is busy or cannot be reached. */
export class AdsError extends RequestError {
  static readonly [className]: string = "AdsError";
  readonly [className]: string = "AdsError";
  override readonly name = "AdsError";
  /**
   * The service's `UPPER_SNAKE` code, `UNREACHABLE` without an answer, or `UNEXPECTED_ANSWER` for one outside the contract.
   * Not sent: `NOT_A_PERSON`, a user id that stands for many people, and `BAD_REQUEST`, a value that is no user id.
   */
  declare readonly code: string;
  /** When to try again, at most a day; undefined if the service did not say. */
  declare readonly retryAfterSeconds: number | undefined;
}

/** The error of a success (200) whose fields are not those of the contract: something else answers at this address. */
export function unexpectedAnswer(): AdsError {
  return new AdsError("another server answers: check the address", { status: 200, code: "UNEXPECTED_ANSWER" });
}
