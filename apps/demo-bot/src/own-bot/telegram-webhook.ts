import { setTimeout as pause } from "node:timers/promises";

/** What the Bot API's `getUpdates` returns. */
export interface Update {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

interface WebhookInfo {
  readonly url: string;
  readonly has_custom_certificate: false;
  readonly pending_update_count: number;
  readonly last_error_date?: number;
  readonly last_error_message?: string;
}

interface TelegramWebhookOptions {
  readonly url: string;
  /** Sent with each update, so that the program can refuse others. */
  readonly secretToken: string | undefined;
  /** Runs the method that an answer may contain, in place of a request of its own. */
  readonly onAnswer: (method: string, fields: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly now: () => Date;
}

const MAX_WAITING = 100;
const ANSWER_WITHIN_MS = 10_000;
const RETRY_EVERY_MS = 500;
const MAX_ANSWER_BYTES = 64 * 1024;

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether updates may be sent there: only to this machine, because anyone who reaches the chat can set the address. */
export function isLoopbackAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && loopbackHost.test(hostname) && username === "" && password === "";
}

/** Sends a bot's updates to its program, one after the other, as Telegram does for `setWebhook`. */
export class TelegramWebhook {
  readonly #options: TelegramWebhookOptions;
  #previous: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #lastError: { readonly at: Date; readonly message: string } | undefined;

  constructor(options: TelegramWebhookOptions) {
    this.#options = options;
  }

  get info(): WebhookInfo {
    const { url } = this.#options;
    const failed = this.#lastError && {
      last_error_date: Math.floor(this.#lastError.at.getTime() / 1000),
      last_error_message: this.#lastError.message,
    };
    return { url, has_custom_certificate: false, pending_update_count: this.#pending, ...failed };
  }

  /** Resolves to whether the program accepted the update within the time that a restart takes. */
  send(update: Update, restartMs: number): Promise<boolean> {
    if (this.#pending >= MAX_WAITING) return Promise.resolve(false);
    this.#pending++;
    const sending = this.#previous.then(() => this.#sendWithRetries(update, restartMs)).finally(() => this.#pending--);
    this.#previous = sending;
    return sending;
  }

  async #sendWithRetries(update: Update, restartMs: number): Promise<boolean> {
    for (const endsAt = performance.now() + restartMs; ; ) {
      if (await this.#attempt(update)) return true;
      if (performance.now() + RETRY_EVERY_MS > endsAt) return false;
      await pause(RETRY_EVERY_MS);
    }
  }

  async #attempt(update: Update): Promise<boolean> {
    const { url, secretToken, onAnswer, now } = this.#options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(secretToken !== undefined && { "x-telegram-bot-api-secret-token": secretToken }),
        },
        body: JSON.stringify(update),
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const body = await readAnswer(response);
      if (!response.ok) throw new Error(`Wrong response from the webhook: ${response.status} ${response.statusText}`);
      const called = methodOf(body);
      if (called) await onAnswer(called.method, called.fields);
      return true;
    } catch (error) {
      this.#lastError = { at: now(), message: messageOf(error) };
      return false;
    }
  }
}

async function readAnswer(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the webhook's answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function methodOf(body: string): { method: string; fields: Record<string, unknown> } | undefined {
  try {
    const { method, ...fields } = JSON.parse(body);
    return typeof method === "string" ? { method, fields } : undefined;
  } catch {
    return undefined;
  }
}

/** `fetch` reports "fetch failed" and has the reason in its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
