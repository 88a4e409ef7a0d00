import type { Target } from "./bench-stack.ts";
import type { Measure } from "./clicks.ts";
import { type LoadResult, load, mergeResults } from "./load.ts";
import type { PostgresFigures } from "./postgres-figures.ts";
import { processorMilliseconds } from "./processor-time.ts";

/** The figures of one path in one round: the caller's results, and the cost. */
export interface Measured extends Omit<LoadResult, "bodies"> {
  readonly nodeMilliseconds: number;
  /** Processor time of all PostgreSQL processes; NaN with the embedded store, which the servers start. */
  readonly postgresMilliseconds: number;
  readonly walBytes: number;
}

interface Meter {
  readonly measure: Measure;
  /** All figures of this meter so far, by path. */
  readonly taken: ReadonlyMap<string, Measured>;
}

export function newMeter(target: Target, postgres: PostgresFigures | undefined): Meter {
  const taken = new Map<string, Measured>();
  const costs = async () => ({
    nodeMilliseconds: processorMilliseconds(target.pids),
    postgresMilliseconds: postgres?.processorMilliseconds() ?? Number.NaN,
    walBytes: (await postgres?.walBytes()) ?? Number.NaN,
  });
  return {
    taken,
    async measure(path, spec) {
      await untilCalm(target);
      const before = await costs();
      const { bodies, ...result } = await load(spec);
      const after = await costs();
      const measured = {
        ...result,
        nodeMilliseconds: after.nodeMilliseconds - before.nodeMilliseconds,
        postgresMilliseconds: after.postgresMilliseconds - before.postgresMilliseconds,
        walBytes: after.walBytes - before.walBytes,
      };
      const earlier = taken.get(path);
      taken.set(path, earlier === undefined ? measured : mergeMeasured([earlier, measured]));
      return bodies;
    },
  };
}

export function mergeMeasured(parts: readonly Measured[]): Measured {
  const sum = (figure: (part: Measured) => number) => parts.reduce((total, part) => total + figure(part), 0);
  const { bodies: _, ...result } = mergeResults(parts.map((part) => ({ ...part, bodies: [] })));
  return {
    ...result,
    nodeMilliseconds: sum((part) => part.nodeMilliseconds),
    postgresMilliseconds: sum((part) => part.postgresMilliseconds),
    walBytes: sum((part) => part.walBytes),
  };
}

/** Waits until the server is idle, so that work after its answers, such as statistics, is not counted for the next path. */
async function untilCalm({ pids }: Target): Promise<void> {
  const [checkEveryMs, calmBelowMs, maxChecks] = [200, 20, 25];
  for (let check = 0; check < maxChecks; check++) {
    const before = processorMilliseconds(pids);
    await new Promise((resolve) => setTimeout(resolve, checkEveryMs));
    if (processorMilliseconds(pids) - before <= calmBelowMs) return;
  }
}
