import type { TelegramWebhook, Update } from "./telegram-webhook.ts";

interface Waiting {
  readonly update: Update;
  /** Called when a poll returns the update. */
  readonly onTaken: () => void;
}

interface Poll {
  readonly offset: number;
  readonly limit: number;
  readonly timeoutMs: number;
}

const MAX_WAITING = 100;

/** The updates of one bot: kept until the bot confirms them by polling with a higher offset, at most 100. Or sent to its webhook. */
export class Updates {
  #lastId = 0;
  #webhook: TelegramWebhook | undefined;
  #waiting: Waiting[] = [];
  #lastPollAt = Number.NEGATIVE_INFINITY;
  #endPoll: (() => void) | undefined;
  readonly #now: () => Date;
  readonly #restartMs: number;

  /** @param restartMs A program that restarts polls again within this time. */
  constructor(now: () => Date, restartMs: number) {
    this.#now = now;
    this.#restartMs = restartMs;
  }

  get webhook(): TelegramWebhook | undefined {
    return this.#webhook;
  }

  /** Sends further updates to this webhook, or lets the program poll. */
  setWebhook(webhook: TelegramWebhook | undefined): void {
    this.#webhook = webhook;
    this.#waiting = [];
    this.#endPoll?.();
  }

  /** Gives an update to the bot's program. Resolves to false if none takes it, also after a restart's time; then it gets nothing. */
  offer(update: Readonly<Record<string, unknown>>): Promise<boolean> {
    if (this.#webhook) return this.#webhook.send(this.#numbered(update), this.#restartMs);
    const isPolling = this.#endPoll !== undefined || this.#now().getTime() - this.#lastPollAt < this.#restartMs;
    if (!isPolling || this.#waiting.length >= MAX_WAITING) return Promise.resolve(false);
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        resolve(false);
      }, this.#restartMs);
      const onTaken = () => {
        clearTimeout(giveUp);
        resolve(true);
      };
      const waiting = { update: this.#numbered(update), onTaken };
      this.#waiting.push(waiting);
      this.#endPoll?.();
    });
  }

  /** GramIO reads the kind of an update from its second field, so that the number has to be the first, as Telegram sends it. */
  #numbered(update: Readonly<Record<string, unknown>>): Update {
    return { update_id: ++this.#lastId, ...update };
  }

  /**
   * Forgets the updates before `offset` and returns the others, at most `limit`, waiting for one. A negative offset counts
   * from the last one. A second poll ends the first, as Telegram does.
   */
  async poll({ offset, limit, timeoutMs }: Poll, signal: AbortSignal): Promise<readonly Update[]> {
    this.#waiting =
      offset < 0 ? this.#waiting.slice(offset) : this.#waiting.filter(({ update }) => update.update_id >= offset);
    this.#endPoll?.();
    if (this.#waiting.length === 0 && timeoutMs > 0 && !signal.aborted) await this.#nextUpdate(timeoutMs, signal);
    this.#lastPollAt = this.#now().getTime();
    if (signal.aborted) return [];
    const taken = this.#waiting.slice(0, limit);
    for (const { onTaken } of taken) onTaken();
    return taken.map(({ update }) => update);
  }

  #nextUpdate(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        if (this.#endPoll === end) this.#endPoll = undefined;
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener("abort", end);
      this.#endPoll = end;
    });
  }
}
