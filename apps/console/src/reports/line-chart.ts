export interface Line {
  name: string;
  /** Of each day or hour, in order; null: there is no value, as of a share of nothing. */
  values: (number | null)[];
  /** Of the range that is compared with. */
  isBefore?: boolean;
}

/** A report in time: a line of all, beside one of the range before, or a line for each of the largest objects. */
export interface LineChart {
  kind: "lines";
  /** Days (`2026-03-01`) or hours with their offset. */
  times: string[];
  lines: Line[];
  /** The place of the day or hour that is not over, whose values still grow. */
  unfinished: number | undefined;
  /** How many objects have no line. */
  left: number;
}

/**
 * A line as it is drawn: up to the last day or hour that is over, and from there to the one that is not (`rest`), which so does not
 * look like a fall. Undefined: all of it is over, or nothing.
 */
export function drawnParts(
  { unfinished = 0 }: Pick<LineChart, "unfinished">,
  { values, isBefore }: Line,
): { over: (number | null)[]; rest: (number | null)[] | undefined } {
  if (unfinished === 0 || isBefore) return { over: values, rest: undefined };
  const isRest = (index: number) => index === unfinished - 1 || index === unfinished;
  return {
    over: values.map((value, index) => (index < unfinished ? value : null)),
    rest: values.map((value, index) => (isRest(index) ? value : null)),
  };
}
