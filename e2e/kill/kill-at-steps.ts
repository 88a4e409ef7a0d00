import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "@intermission/testing/seeded-random";
import { dealSteps } from "./crash-steps.ts";
import type { earnEvents } from "./earn-events.ts";
import type { MortalNode } from "./mortal-node.ts";
import type { Nodes } from "./start-nodes.ts";

/** If the step is not reached by then, a server is killed wherever it is. */
const STEP_WITHIN_MS = 12_000;
const PEOPLE_AT_ONCE = 16;

export interface Step {
  /** Number of runs that tried to kill a server at this step. */
  dealt: number;
  /** Number of runs that did; in the other runs it was killed at an arbitrary moment. */
  reached: number;
}

interface Killing {
  readonly nodes: Nodes;
  readonly earning: ReturnType<typeof earnEvents>;
  readonly random: Random;
}

/**
 * Performs the runs of a kill script: each picks a step, lets people earn until a server is killed there, and restarts it.
 * Recovery continues during the next runs.
 */
export function killAtSteps({ nodes, earning, random }: Killing) {
  const deal = { "ad-service": dealSteps("ad-service", random), api: dealSteps("api", random) };
  const steps = new Map<string, Step>();

  async function earnUntil(hasCrashed: () => boolean): Promise<void> {
    const until = Date.now() + STEP_WITHIN_MS;
    while (!hasCrashed() && Date.now() < until) {
      if (earning.underWay < PEOPLE_AT_ONCE) earning.begin();
      await wait(100 + 300 * Math.random());
    }
  }

  /** The first of these nodes that reaches the step is killed; two are, if they reach it at the same time. */
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
