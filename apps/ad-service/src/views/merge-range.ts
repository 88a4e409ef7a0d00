/** From (inclusive) to (exclusive). */
export type Range = [from: number, to: number];

/** Adds a range to sorted, disjoint ranges. Ranges that touch or are at most `gap` apart are merged. */
export function mergeRange(ranges: readonly Range[], added: Range, gap = 0): Range[] {
  const [from, to] = added;
  const before = ranges.filter((range) => range[1] + gap < from);
  const after = ranges.filter((range) => range[0] - gap > to);
  const touched = ranges.slice(before.length, ranges.length - after.length);
  const start = Math.min(from, touched[0]?.[0] ?? from);
  const end = Math.max(to, touched.at(-1)?.[1] ?? to);
  return [...before, [start, end], ...after];
}

export function totalLength(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0);
}

export function includesPoint(ranges: readonly Range[], point: number): boolean {
  return ranges.some(([from, to]) => from <= point && point < to);
}
