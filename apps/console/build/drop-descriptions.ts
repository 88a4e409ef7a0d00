import type { Plugin } from "vite";

/** `.describe("…")` of a schema, with a text that holds no other code. */
const DESCRIPTION = /\.describe\(\s*"(?:[^"\\\n]|\\.)*",?\s*\)/g;

/** The operator's API describes its fields for OpenAPI and the command line. No screen shows these texts: 3.5 kB of gzip. */
export function dropDescriptions(): Plugin {
  return {
    name: "drop-descriptions",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      if (!/\/packages\/(operator-api|ad-core)\/src\/[\w-]+\.ts$/.test(id)) return undefined;
      return { code: code.replaceAll(DESCRIPTION, ""), map: null };
    },
  };
}
