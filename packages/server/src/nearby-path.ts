/** A longer path is no typing mistake. */
const MAX_LENGTH = 200;
/** Callers that are not signed in as an operator get no hint at these paths. */
const OPERATOR = /^\/operator(\/|$)/;

/** What the paths of a route look like; undefined for those that are not named to callers. */
export function shapeOf(pattern: string): RegExp | undefined {
  // At the root a parameter takes every name.
  if (/^\/?(:|$)|\*/.test(pattern) || OPERATOR.test(pattern)) return undefined;
  return new RegExp(`^${pattern.replace(/[.+?^$()[\]{}|\\]/g, "\\$&").replace(/:\w+/g, "[^/]+")}$`, "i");
}

/**
 * The known path that a request for an unknown one probably meant: one that differs in slashes at its end or in a row, in the
 * case of its letters, or by a beginning that is there twice, as where a client adds it to an address that has it. Its
 * parameters are named: `/client/v1/codes/{code}`. Undefined if there is none. `shapes`: by the patterns of the routes.
 */
export function nearbyPath(shapes: ReadonlyMap<string, RegExp>, requested: string): string | undefined {
  const [path = ""] = requested.split("?", 1);
  if (path.length > MAX_LENGTH) return undefined;
  const plain = path.replace(/\/{2,}/g, "/").replace(/\/$/, "");
  const spellings = [plain, plain.replace(/^((?:\/[^/]+)+)\1(?=\/)/i, "$1")];
  for (const [pattern, shape] of shapes) {
    if (spellings.some((spelling) => shape.test(spelling))) return pattern.replace(/:(\w+)/g, "{$1}");
  }
  return undefined;
}
