import type { NamedRewards } from "../client-answers.ts";

/** Where events are sent: an address, or the handler itself, which is then called without a network. */
export type FakeWebhook = string | ((request: Request) => Promise<Response>);

/** The answer of `GET /client/v1/availability`. */
export interface FakeAvailability {
  readonly available: boolean;
  readonly reason?: "cooldown" | "daily-cap" | "no-ad" | "bot-suspended" | undefined;
  /** RFC 3339. */
  readonly available_at?: string | undefined;
  readonly rewards?: NamedRewards | undefined;
}

export interface FakeAdServiceOptions {
  /** `"7000000001"` by default. */
  readonly botId?: string | undefined;
  /** `"ad_test"` by default; several while tokens rotate, of which the first signs `X-Signature`. */
  readonly tokens?: string | readonly string[] | undefined;
  /** An address, or the handler that `webhook()` returns. Without one, events are held. It is active at once. */
  readonly webhook?: FakeWebhook | undefined;
  readonly testers?: readonly string[] | undefined;
  /** Of a code; 3600 by default. */
  readonly lifetimeSeconds?: number | undefined;
  /** What the answers about codes and availability say that a view and a click are worth. */
  readonly rewards?: NamedRewards | undefined;
  /**
   * What each view and click is worth to the bot, in millionths of the currency, as for a bot whose setting includes it. Without
   * it, events do not say.
   */
  readonly revenue?:
    | { readonly rewarded?: number | undefined; readonly direct_link?: number | undefined; readonly currency: string }
    | undefined;
  readonly now?: (() => Date) | undefined;
}

export type Earning =
  | { readonly outcome: "earned"; readonly eventId: string; readonly isDelivered: boolean }
  | { readonly outcome: "unknown-code" | "expired" | "already-earned" };

export interface FakeAdService {
  /** Pass it as `url` to `createAds`. */
  readonly url: string;
  readonly botId: string;
  readonly token: string;
  /** Answers requests without a network; pass it as `fetch` to `createAds`. */
  readonly fetch: typeof fetch;
  /** Also listens on 127.0.0.1, and returns the address. */
  listen(port?: number): Promise<string>;
  /**
   * The user of this code watches the ad and closes it, or follows the direct link. `startParam`: the `startapp` value of the
   * link that opened the mini-app. `clientNote`: what the page passed to `show({ note })`. Resolves when the webhook was answered.
   */
  earn(
    code: string,
    event?: "rewarded" | "direct_link",
    launch?: { readonly startParam?: string | undefined; readonly clientNote?: string | undefined },
  ): Promise<Earning>;
  /** Sends the events that were not accepted before, as the ad service does on its schedule. */
  sendWaiting(): Promise<void>;
  setWebhook(webhook: FakeWebhook | undefined): void;
  /** What `availability` answers. At first an ad is available. */
  setAvailability(availability: FakeAvailability): void;
  /** Refuses the next request, with `Retry-After` if it has one. */
  refuseNext(refusal: {
    readonly status: number;
    readonly code: string;
    readonly retryAfterSeconds?: number | undefined;
  }): void;
  close(): Promise<void>;
}
