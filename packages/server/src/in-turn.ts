/** The work that runs or waits, by key. */
export type Turns = Map<string, { length: number; last: Promise<unknown> }>;

/**
 * Runs the work of one key one at a time, in its order of arrival; other keys do not wait. Work that fails does not stop
 * the next. A caller bounds how much may wait by the `length` of its key, which counts the work that runs.
 */
export async function inTurn<Result>(turns: Turns, key: string, work: () => Promise<Result>): Promise<Result> {
  let line = turns.get(key);
  if (line === undefined) {
    line = { length: 0, last: Promise.resolve() };
    turns.set(key, line);
  }
  line.length += 1;
  const result = line.last.then(work);
  line.last = result.catch(() => {});
  try {
    return await result;
  } finally {
    line.length -= 1;
    if (line.length === 0) turns.delete(key);
  }
}
