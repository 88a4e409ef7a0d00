import type { DeliveryMode } from "../bots/bots.ts";

export type DeliveryState = "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown";

/** Why a delivery that was not answered 2xx is not sent again automatically. */
export type EndReason = "attempts-used-up" | "at-most-once" | "held-too-long" | "test" | "erased";

/** An event that the statement that made it has claimed for this node: a row of `claimed_events` with the event's bytes. */
export interface ClaimedEvent {
  botId: string;
  eventId: string;
  body: string;
  url: string;
  deliveryMode: DeliveryMode;
}

/** The result of a statement with `enqueueWebhook`. */
export interface MadeEvents<Result> {
  result: Result;
  /** Rows of `enqueued`. */
  made: number;
  /** Rows of `claimed_events`. */
  claimed: readonly ClaimedEvent[];
}

/** The sending side of a node, for code that makes events or changes what may be sent. */
export interface Deliveries {
  /**
   * Runs `make` with the number of events that it may claim, then sends the claimed events and wakes the loop for the rest.
   * `make` makes at most `most` events in one statement that commits alone. Each run needs a `sendNew` call of its own, since
   * the claims' leases must begin after the call. A claim locks its endpoint until the commit, so transactions of several
   * statements claim nothing and call `wake()`.
   */
  sendNew<Result>(most: number, make: (slots: number) => Promise<MadeEvents<Result>>): Promise<Result>;
  /** Call after a commit that may have made a delivery due. Cheap, and only a hint: the loops of all nodes also poll. */
  wake(): void;
}

/** For a process that sends nothing: the nodes send its events. */
export const noDeliveries: Deliveries = {
  async sendNew(_most, make) {
    return (await make(0)).result;
  },
  wake() {},
};

/** Log of what an operator should know about deliveries. */
export interface DeliveryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
