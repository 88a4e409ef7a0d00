import { seededRandom } from "@intermission/testing/seeded-random";
import { earnEvents } from "./earn-events.ts";
import { followRewards } from "./follow-rewards.ts";
import { killAtSteps, type Step } from "./kill-at-steps.ts";
import { type Settled, settleRecords } from "./settle-records.ts";
import { type NodesOptions, startNodes } from "./start-nodes.ts";
import type { Arrival } from "./watch-webhooks.ts";

export interface Proof extends NodesOptions {
  readonly name: string;
  readonly runs: number;
  /** The records are verified after every `block` runs and at the end. */
  readonly block: number;
  readonly seed: number;
  /** Started one after the other, evenly spread over the runs, which continue meanwhile. */
  readonly disturbances: readonly Disturbance[];
}

interface Disturbance {
  readonly name: string;
  begin(): Promise<void>;
}

/** The first faults are enough to see the problem. */
const MAX_SHOWN = 20;
/** A step that was picked this often is reached at least once, unless its statement was renamed. */
const SURELY_REACHED_IN = 20;

/** Performs the runs, compares the records and prints the results. Returns false if there are faults. */
export async function verifyRecords(proof: Proof): Promise<boolean> {
  const { runs, block, seed } = proof;
  const startedAt = Date.now();
  const say = (text: string) => console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${text}`);
  say(`${runs} runs on ${proof.name}, --seed ${seed}`);
  const nodes = await startNodes(proof);
  const earning = earnEvents(nodes);
  const apis = nodes.all.filter(({ role }) => role === "api");
  const followers = apis.map(({ url }) => followRewards(url, nodes.secrets.backendApiKey));
  const killing = killAtSteps({ nodes, earning, random: seededRandom(seed) });
  const disturbing = disturbancesOf(proof, say);
  try {
    for (let run = 1; ; run++) {
      disturbing.begin(run);
      await killing.run();
      const isLast = run === runs;
      if (run % block !== 0 && !isLast) continue;
      await disturbing.end();
      await earning.finish();
      const settled = await settleRecords({ nodes, promises: earning.promises, followers, isLast });
      const faults = [...settled.faults, ...(isLast ? unreached(killing.steps) : [])];
      say(`run ${run}: ${describe(settled, nodes.arrivals)}`);
      for (const fault of faults.slice(0, MAX_SHOWN)) console.error(`  ${fault}`);
      if (faults.length > MAX_SHOWN) console.error(`  and ${faults.length - MAX_SHOWN} more`);
      if (faults.length === 0 && !isLast) continue;
      say(`kills by step:${describeSteps(killing.steps)}`);
      return faults.length === 0;
    }
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
    await nodes.stop();
  }
}

function disturbancesOf({ runs, disturbances }: Proof, say: (text: string) => void) {
  const begun: Promise<void>[] = [];
  return {
    begin(run: number): void {
      const next = disturbances[begun.length];
      if (!next || run <= (runs * (begun.length + 1)) / (disturbances.length + 1)) return;
      say(`run ${run}: ${next.name}`);
      begun.push(next.begin());
    },
    async end(): Promise<void> {
      await Promise.all(begun);
    },
  };
}

function describe({ records, lost, paidTwice, states }: Settled, arrivals: ReadonlyMap<string, Arrival>): string {
  const sent = [...arrivals.values()].reduce((sum, { times }) => sum + times, 0);
  const deliveries = [...states].map(([state, number]) => `${number} ${state}`).join(", ");
  return [
    `${records.events.length} events (${deliveries})`,
    `${records.entries.length} ledger entries`,
    `${lost} lost, ${paidTwice} paid twice`,
    `${sent - arrivals.size} duplicates on the wire`,
  ].join("; ");
}

function unreached(steps: ReadonlyMap<string, Step>): string[] {
  const never = [...steps].filter(([, { dealt, reached }]) => dealt >= SURELY_REACHED_IN && reached === 0);
  return never.map(([name]) => `no server was killed at ${name}: was the statement renamed?`);
}

function describeSteps(steps: ReadonlyMap<string, Step>): string {
  const inOrder = [...steps].sort(([one], [other]) => (one < other ? -1 : 1));
  const anywhere = inOrder.reduce((sum, [, { dealt, reached }]) => sum + dealt - reached, 0);
  const lines = [...inOrder.map(([name, { reached }]): [string, number] => [name, reached]), ["at no step", anywhere]];
  return lines.map(([name, times]) => `\n         ${String(times).padStart(4)} × ${name}`).join("");
}
