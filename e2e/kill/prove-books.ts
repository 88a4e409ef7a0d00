import { earnEvents } from "./earn-events.ts";
import { followRewards } from "./follow-rewards.ts";
import { killAtSteps } from "./kill-at-steps.ts";
import { seededRandom } from "./seeded-random.ts";
import { type Settled, settleBooks } from "./settle-books.ts";
import { type NodesOptions, startNodes } from "./start-nodes.ts";
import type { Arrival } from "./watch-webhooks.ts";

export interface Proof extends NodesOptions {
  readonly name: string;
  readonly runs: number;
  /** After so many runs, and at the end, the books must be right. */
  readonly block: number;
  readonly seed: number;
  /** Begun one after the other, evenly spread over the runs, which go on meanwhile. */
  readonly disturbances: readonly { readonly name: string; begin(): Promise<void> }[];
}

/** Makes the runs, holds the books against one another and prints what was seen. False: something is wrong. */
export async function proveBooks(proof: Proof): Promise<boolean> {
  const { runs, block, seed, name, disturbances } = proof;
  const startedAt = Date.now();
  const say = (text: string) => console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${text}`);
  say(`${runs} runs on ${name}, --seed ${seed}`);
  const nodes = await startNodes(proof);
  const earning = earnEvents(nodes);
  const followers = nodes.all
    .filter(({ role }) => role === "api")
    .map(({ url }) => followRewards(url, nodes.secrets.backendApiKey));
  const killing = killAtSteps({ nodes, earning, random: seededRandom(seed) });
  const begun: Promise<void>[] = [];
  try {
    for (let run = 1; ; run++) {
      const disturbance = disturbances[begun.length];
      if (disturbance && run > (runs * (begun.length + 1)) / (disturbances.length + 1)) {
        say(`run ${run}: ${disturbance.name}`);
        begun.push(disturbance.begin());
      }
      await killing.run();
      const isLast = run === runs;
      if (run % block !== 0 && !isLast) continue;
      await Promise.all(begun);
      await earning.finish();
      const settled = await settleBooks({ nodes, promises: earning.promises, followers, isLast });
      say(`run ${run}: ${describe(settled, nodes.arrivals)}`);
      for (const fault of settled.faults) console.error(`  ${fault}`);
      if (settled.faults.length > 0 || isLast) {
        say(`died ${describeDeaths(killing.deaths)}`);
        return settled.faults.length === 0;
      }
    }
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
    await nodes.stop();
  }
}

function describe({ books, lost, paidTwice, faults, states }: Settled, arrivals: ReadonlyMap<string, Arrival>): string {
  const sent = [...arrivals.values()].reduce((sum, { times }) => sum + times, 0);
  const deliveries = [...states].map(([state, number]) => `${number} ${state}`).join(", ");
  return [
    `${books.events.length} events (${deliveries})`,
    `${books.entries.length} ledger entries`,
    ...[`${lost} lost`, `${paidTwice} paid twice`, `${faults.length} faults`],
    `${sent - arrivals.size} duplicates on the wire`,
  ].join("; ");
}

function describeDeaths(deaths: ReadonlyMap<string, number>): string {
  const places = [...deaths].sort(([one], [other]) => (one < other ? -1 : 1));
  return places.map(([place, times]) => `\n         ${String(times).padStart(4)} × ${place}`).join("");
}
