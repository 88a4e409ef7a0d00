/**
 * Draws one candidate, each as likely as its weight says. `chance` lies in [0, 1). Pure, so that a choice can be
 * repeated in a test; whether a candidate is eligible was decided before.
 */
export function chooseAd<Candidate extends { weight: number }>(
  candidates: readonly Candidate[],
  chance: number,
): Candidate | undefined {
  let left = chance * candidates.reduce((sum, { weight }) => sum + weight, 0);
  for (const candidate of candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate;
  }
  return candidates.at(-1);
}
