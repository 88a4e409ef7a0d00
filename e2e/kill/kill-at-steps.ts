import { setTimeout as wait } from "node:timers/promises";
import { dealSteps } from "./crash-steps.ts";
import type { earnEvents } from "./earn-events.ts";
import type { MortalNode } from "./mortal-node.ts";
import type { Random } from "./seeded-random.ts";
import type { Nodes } from "./start-nodes.ts";

/** A step that has not come by then is given up, and the server dies where it is. */
const STEP_WITHIN_MS = 12_000;
const PEOPLE_AT_ONCE = 16;

export interface Step {
  /** In how many runs a server was to die there. */
  dealt: number;
  /** In how many it did; in the others it died at a moment of no meaning. */
  reached: number;
}

interface Killing {
  readonly nodes: Nodes;
  readonly earning: ReturnType<typeof earnEvents>;
  readonly random: Random;
}

/**
 * Makes the runs of a kill script: each names a step, lets people earn until a server has died there, and starts it again.
 * What its death left behind is sorted out while the next runs go on.
 */
export function killAtSteps({ nodes, earning, random }: Killing) {
  const deal = { "ad-service": dealSteps("ad-service", random), api: dealSteps("api", random) };
  const steps = new Map<string, Step>();

  async function earnUntil(hasDied: () => boolean): Promise<void> {
    const until = Date.now() + STEP_WITHIN_MS;
    while (!hasDied() && Date.now() < until) {
      if (earning.underWay < PEOPLE_AT_ONCE) earning.begin();
      await wait(100 + 300 * Math.random());
    }
  }

  /** The first of these nodes to pass the step dies there; two may, when they pass it together. */
  async function crashAt(targets: readonly MortalNode[], step: string): Promise<boolean> {
    const count = 1 + random.below(2);
    for (const node of targets) node.arm(step, count);
    await earnUntil(() => targets.some((node) => !node.isUp));
    for (const node of targets) node.disarm();
    return targets.some((node) => !node.isUp);
  }

  return {
    steps,
    async run(): Promise<void> {
      const role = random.pick(["ad-service", "ad-service", "api"] as const);
      const targets = nodes.all.filter((node) => node.role === role);
      const step = deal[role]();
      const known = steps.get(`${role} ${step}`) ?? { dealt: 0, reached: 0 };
      steps.set(`${role} ${step}`, known);
      known.dealt += 1;
      if (await crashAt(targets, step)) known.reached += 1;
      else await random.pick(targets).kill();
      await Promise.all(nodes.all.map((node) => node.isUp || node.start()));
    },
  };
}
