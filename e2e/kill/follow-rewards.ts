import { setTimeout as wait } from "node:timers/promises";
import type { RewardEntry } from "./companion-api.ts";

export interface Follower {
  /** How often each entry was seen, by its id. */
  readonly seen: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Watches one API node's ledger from the start, as a bot does: reconnects after each disconnect with its last cursor. */
export function followRewards(apiUrl: string, backendApiKey: string): Follower {
  const seen = new Map<string, number>();
  const stopping = new AbortController();
  let lastEventId: string | undefined;

  async function follow(): Promise<void> {
    const input = lastEventId === undefined ? { from: "start" } : { lastEventId };
    const response = await fetch(`${apiUrl}/trpc/rewards.watch?input=${encodeURIComponent(JSON.stringify(input))}`, {
      headers: { authorization: `Bearer ${backendApiKey}`, accept: "text/event-stream" },
      signal: stopping.signal,
    });
    if (!response.ok || !response.body) throw new Error(`rewards.watch answered ${response.status}`);
    for await (const fields of messagesOf(response.body)) {
      if (fields.event === "serialized-error") throw new Error(`rewards.watch ended: ${fields.data}`);
      if (fields.id === undefined || fields.data === undefined) continue;
      const entry: RewardEntry = JSON.parse(fields.data);
      lastEventId = fields.id;
      seen.set(entry.entryId, (seen.get(entry.entryId) ?? 0) + 1);
    }
  }

  const following = (async () => {
    while (!stopping.signal.aborted) {
      await follow().catch(() => {});
      await wait(200);
    }
  })();
  return {
    seen,
    async stop() {
      stopping.abort();
      await following;
    },
  };
}

/** The fields of each message of an event stream. An incomplete message is discarded. */
async function* messagesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Record<string, string | undefined>> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const lines = message.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line));
      yield Object.fromEntries(lines.flatMap((line) => (line ? [[line[1], line[2]]] : [])));
    }
  }
}
