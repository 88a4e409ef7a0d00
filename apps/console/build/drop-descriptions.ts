import type { Plugin } from "vite";

/** `.describe("…")` of a schema, with a text that holds no other code. */
const OF_SCHEMA = /\.describe\(\s*"(?:[^"\\\n]|\\.)*",?\s*\)/g;

/** `description: "…",` of a route. */
const OF_ROUTE = /\bdescription:\s*"(?:[^"\\\n]|\\.)*",/g;

/** Who may use a route, and what it changes: lines of their own. */
const OF_SERVER = /^ {4}(?:access|changes): (?:[\w.]+|"[\w-]+"|\{[^{}\n]*\}),$/gm;

/** Where the examples of a body begin; they may hold any code. */
const EXAMPLES = /\.meta\(\{\s*examples:/;

/** What of the operator's API is for OpenAPI, the command line and the server: no screen needs it, and it is 7 kB of gzip. */
export function dropDescriptions(): Plugin {
  return {
    name: "drop-descriptions",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      if (!/\/packages\/(operator-api|ad-core)\/src\/[\w-]+\.ts$/.test(id)) return undefined;
      return {
        code: withoutExamples(code).replaceAll(OF_SCHEMA, "").replaceAll(OF_ROUTE, "").replaceAll(OF_SERVER, ""),
        map: null,
      };
    },
  };
}

function withoutExamples(code: string): string {
  const start = code.search(EXAMPLES);
  if (start < 0) return code;
  return code.slice(0, start) + withoutExamples(code.slice(endOfCall(code, start)));
}

/** The end of the call that begins at `start`, past its closing parenthesis. */
function endOfCall(code: string, start: number): number {
  const parts = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|[()]/g;
  parts.lastIndex = start;
  let depth = 0;
  for (let part = parts.exec(code); part !== null; part = parts.exec(code)) {
    if (part[0] === "(") depth += 1;
    if (part[0] !== ")") continue;
    depth -= 1;
    if (depth === 0) return parts.lastIndex;
  }
  throw new Error("a call has no end");
}
