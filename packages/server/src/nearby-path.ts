/** Longer ones are no slip of the pen. */
const MAX_LENGTH = 200;
/** To others than the operator there is nothing at these paths, and no hint at one. */
const OPERATOR = /^\/operator(\/|$)/;

/**
 * The known path that a request for an unknown one probably meant: one that differs in slashes at its end or in a row, in the
 * case of its letters, or by a beginning that is there twice, as where a client adds it to an address that has it. Its
 * parameters are named: `/client/v1/codes/{code}`. Undefined if there is none.
 */
export function nearbyPath(patterns: Iterable<string>, requested: string): string | undefined {
  const [path = ""] = requested.split("?", 1);
  if (path.length > MAX_LENGTH) return undefined;
  const plain = path.replace(/\/{2,}/g, "/").replace(/\/$/, "");
  const spellings = [plain, plain.replace(/^((?:\/[^/]+)+)\1(?=\/)/i, "$1")];
  for (const pattern of patterns) {
    // At the root a parameter takes every name.
    if (/^\/?(:|$)|\*/.test(pattern) || OPERATOR.test(pattern)) continue;
    const shape = new RegExp(`^${pattern.replace(/[.+?^$()[\]{}|\\]/g, "\\$&").replace(/:\w+/g, "[^/]+")}$`, "i");
    if (spellings.some((spelling) => shape.test(spelling))) return pattern.replace(/:(\w+)/g, "{$1}");
  }
  return undefined;
}
