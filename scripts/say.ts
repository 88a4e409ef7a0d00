/** A foreseen failure: the message describes what failed, and `nextStep` what to do. */
export class Problem extends Error {
  readonly nextStep: string;
  constructor(message: string, nextStep: string) {
    super(message);
    this.nextStep = nextStep;
  }
}

const isTerminal = process.stdout.isTTY === true;

export async function step<T>(title: string, work: () => Promise<T> | T): Promise<T> {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  const show = () => process.stdout.write(`\r\x1b[2K… ${title} (${seconds()})`);
  const ticking = isTerminal ? setInterval(show, 200) : undefined;
  if (isTerminal) show();
  try {
    const result = await work();
    console.log(`${isTerminal ? "\r\x1b[2K" : ""}✓ ${title} (${seconds()})`);
    return result;
  } catch (error) {
    console.log(`${isTerminal ? "\r\x1b[2K" : ""}✗ ${title} (${seconds()})`);
    throw error;
  } finally {
    clearInterval(ticking);
  }
}

/** Prints the error and exits with 1: a `Problem` without its stack, any other error with it. */
export function explain(error: unknown): never {
  if (error instanceof Problem) console.error(`\n✗ ${error.message}\n  ${error.nextStep}`);
  else console.error(error);
  process.exit(1);
}
