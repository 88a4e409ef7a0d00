import type { ConnectionObserver } from "./tcp-proxy.ts";

export interface Arrival {
  /** How often the webhook was sent. */
  times: number;
  /** When it was first answered 2xx, in epoch milliseconds. */
  answeredAt: number | undefined;
}

/** Observes the connections between ad services and APIs: which events are sent, and which are answered 2xx. */
export function watchWebhooks(): { arrivals: ReadonlyMap<string, Arrival>; observe: () => ConnectionObserver } {
  const arrivals = new Map<string, Arrival>();

  // A connection carries one request at a time, and each head arrives in one chunk because it is written in one.
  const observe = () => {
    let pending: Arrival | undefined;
    return {
      onSent(chunk: Buffer) {
        const [, eventId] = /^webhook-id: (\S+)\r$/im.exec(chunk.toString("latin1")) ?? [];
        if (eventId === undefined) return;
        pending = arrivals.get(eventId) ?? { times: 0, answeredAt: undefined };
        pending.times += 1;
        arrivals.set(eventId, pending);
      },
      onAnswered(chunk: Buffer) {
        if (pending && /^HTTP\/1\.1 2\d\d /.test(chunk.toString("latin1", 0, 16))) pending.answeredAt ??= Date.now();
        pending = undefined;
      },
    };
  };
  return { arrivals, observe };
}
