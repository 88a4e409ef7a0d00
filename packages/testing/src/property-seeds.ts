/**
 * A setup file of Vitest. `npm test` draws the same random inputs in each run, so that only a change can make it red.
 * `npm run test:long` draws new ones, and more of them, and prints the seed. An input that fails there becomes one of the
 * property's `examples`, which every run tries.
 */
import fc from "fast-check";

const USUAL_RUNS = 100;

const numberOf = (name: string, usual: number): number => {
  const number = Number(process.env[name] ?? usual);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(
    `${name}=${process.env[name]} is not a positive whole number. Take one that test:long printed, or none.`,
  );
};

export const propertySeed = numberOf("PROPERTY_SEED", 41);
const numRuns = numberOf("PROPERTY_RUNS", USUAL_RUNS);

// Properties that touch a database or a server name a smaller number themselves. Where more runs take longer than this on a
// slow machine, those that were made count.
fc.configureGlobal({ seed: propertySeed, numRuns, ...(numRuns > USUAL_RUNS && { interruptAfterTimeLimit: 30_000 }) });

/** The runs of a property that needs more than the usual ones, for example to reach every kind of decision; more in the long set, too. */
export const runsToReachAll = (usual: number): number => Math.ceil((usual * numRuns) / USUAL_RUNS);
