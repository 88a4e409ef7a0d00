import type { IncomingHttpHeaders } from "node:http";
import { verifyWebhook } from "@intermission/publisher";

/** What the demo's receiver does with webhooks. */
export const receiverModes = ["accept", "answer-500", "time-out", "wrong-token", "send-twice"] as const;
type ReceiverMode = (typeof receiverModes)[number];

/** A webhook as it arrived, and what it was answered. */
export interface ReceivedWebhook {
  readonly eventId: string | undefined;
  readonly attempt: number;
  readonly at: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isVerified: boolean;
  /** Undefined until it is answered, and if the ad service stopped waiting. */
  answer: ReceiverAnswer | undefined;
}

interface ReceiverAnswer {
  readonly status: number;
  readonly body: string;
}

interface ReceiverOptions {
  /** The key of the signatures: the bot's API token. */
  readonly token: string;
  /** The companion API's webhook address, which records what this receiver accepts. */
  readonly forwardTo: string;
  /** Asks the ad service to send an event once more. */
  readonly redeliver: (eventId: string) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
  readonly now: () => Date;
}

const MAX_KEPT = 100;
const MAX_ANSWER_CHARACTERS = 4096;
const FORWARD_WITHIN_MS = 10_000;
const forwarded = /^(content-type|x-(bot-id|timestamp|signature)|webhook-.*)$/;

/**
 * The demo bot's webhook address. It shows each webhook byte for byte, verifies it, and passes it on to the companion API;
 * or it fails in the way that was chosen, so that retries, refusals and repeats can be watched.
 */
export class WebhookReceiver {
  mode: ReceiverMode = "accept";
  readonly #options: ReceiverOptions;
  readonly #received: ReceivedWebhook[] = [];
  readonly #sentTwice = new Set<string>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  get token(): string {
    return this.#options.token;
  }

  /** The latest webhooks, oldest first. */
  get received(): readonly ReceivedWebhook[] {
    return this.#received;
  }

  /** Answers a webhook; undefined if it is never answered. `closed` aborts when the ad service closes the connection. */
  async receive(
    { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
    closed: AbortSignal,
  ): Promise<ReceiverAnswer | undefined> {
    const { mode } = this;
    const at = this.#options.now().toISOString();
    const token = mode === "wrong-token" ? "ad_the-token-of-another-bot" : this.#options.token;
    const verified = await verifyWebhook(Uint8Array.from(body), headers, token);
    const webhook: ReceivedWebhook = {
      at,
      eventId: firstOf(headers["webhook-id"]),
      attempt: Number(headers["webhook-attempt"] ?? 1),
      headers: plain(headers),
      body: body.toString(),
      isVerified: verified.outcome === "verified",
      answer: undefined,
    };
    this.#received.push(webhook);
    if (this.#received.length > MAX_KEPT) this.#received.shift();
    webhook.answer = await this.#answer(mode, webhook, body, closed);
    const isAccepted = webhook.answer !== undefined && webhook.answer.status < 300;
    const isTest = verified.outcome === "verified" && verified.event.isTest;
    if (mode === "send-twice" && isAccepted && !isTest) this.#sendAgain(webhook.eventId);
    return webhook.answer;
  }

  #answer(
    mode: ReceiverMode,
    { headers, isVerified }: ReceivedWebhook,
    body: Buffer,
    closed: AbortSignal,
  ): Promise<ReceiverAnswer | undefined> {
    const answers: Record<ReceiverMode, () => Promise<ReceiverAnswer | undefined>> = {
      accept: () => this.#forward(headers, body),
      "send-twice": () => this.#forward(headers, body),
      "wrong-token": async () => ({ status: 401, body: "the signature is not valid for this token" }),
      "answer-500": async () => ({ status: 500, body: "the receiver fails, as chosen in the demo" }),
      "time-out": () => untilClosed(closed),
    };
    // What nobody signed never reaches the ledger; the companion API would refuse it, too.
    return isVerified || mode !== "accept" ? answers[mode]() : answers["wrong-token"]();
  }

  async #forward(headers: Readonly<Record<string, string>>, body: Buffer): Promise<ReceiverAnswer> {
    const { forwardTo, onTrouble } = this.#options;
    try {
      const response = await fetch(forwardTo, {
        method: "POST",
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => forwarded.test(name))),
        body: Uint8Array.from(body),
        redirect: "manual",
        signal: AbortSignal.timeout(FORWARD_WITHIN_MS),
      });
      return { status: response.status, body: (await response.text()).slice(0, MAX_ANSWER_CHARACTERS) };
    } catch (error) {
      onTrouble(error);
      return { status: 503, body: "the companion API does not answer" };
    }
  }

  /** Once for each event: the repeat is not repeated. */
  #sendAgain(eventId: string | undefined): void {
    if (eventId === undefined || this.#sentTwice.has(eventId)) return;
    if (this.#sentTwice.size >= MAX_KEPT) this.#sentTwice.clear();
    this.#sentTwice.add(eventId);
    // The ad service sends again only what it has recorded as delivered, which follows this answer.
    setTimeout(() => this.#options.redeliver(eventId).catch(this.#options.onTrouble), 500).unref();
  }
}

function untilClosed(closed: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (closed.aborted) return resolve(undefined);
    closed.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(", ")]],
    ),
  );
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return [value].flat()[0];
}
