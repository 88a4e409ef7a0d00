import type { DeliveryMode } from "../bots/schema.ts";

/** An event that the statement which made it has claimed for this node: a row of `claimed_events` with the event's bytes. */
export interface ClaimedEvent {
  botId: string;
  eventId: string;
  body: string;
  url: string;
  deliveryMode: DeliveryMode;
}

/** What a statement with `enqueueWebhook` has done. */
export interface MadeEvents<Result> {
  result: Result;
  /** Rows of `enqueued`. */
  made: number;
  /** Rows of `claimed_events`. */
  claimed: readonly ClaimedEvent[];
}

/** The sending side of a node, for those who make events or change what may be sent. */
export interface Deliveries {
  /**
   * Runs `make`, whose one commit makes at most `most` events, with the number of them that it may claim; then sends what
   * it claimed, and wakes the loop for the rest. The claims' leases begin after the call: `make` is one statement that
   * commits by itself, and is run by a call of its own each time. A claim locks its endpoint until the commit, so
   * transactions of several statements claim nothing and call `wake()`.
   */
  sendNew<Result>(most: number, make: (slots: number) => Promise<MadeEvents<Result>>): Promise<Result>;
  /** After a commit: something may be due now. Cheap; a hint, since the loops of all nodes poll. */
  wake(): void;
}

/** Of a process that sends nothing: its events wait for the nodes. */
export const noDeliveries: Deliveries = {
  async sendNew(_most, make) {
    return (await make(0)).result;
  },
  wake() {},
};
