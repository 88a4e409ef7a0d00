import type { Plugin } from "vite";

const CLASSIC_SCHEMAS = /\/zod\/v4\/classic\/schemas\.js$/;

/** What the module has, and what remains of it. */
const cuts: readonly (readonly [RegExp, string])[] = [
  // How each kind of schema is written as JSON Schema.
  [/inst\._zod\.processJSONSchema = \(ctx, json, params\) => processors\.\w+\(inst, ctx, json, params\);/g, ""],
  [
    /import \{ createStandardJSONSchemaMethod, createToJSONSchemaMethod \} from "\.\.\/core\/to-json-schema\.js";/,
    "const createStandardJSONSchemaMethod = () => {}, createToJSONSchemaMethod = () => () => {};",
  ],
  // For values that contain themselves, as JSON and forms never do.
  [/core\.config\(\{ memoizer: core\.memoizer\(\) \}\)/, "undefined"],
];

/**
 * Leaves out what every schema of zod can do and no screen does, so that no bundler knows it as unused: 7 kB of gzip. Fails the
 * build once zod is written in another way.
 */
export function slimZod(): Plugin {
  let isSlim = false;
  return {
    name: "slim-zod",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      if (!CLASSIC_SCHEMAS.test(id)) return undefined;
      isSlim = cuts.every(([part]) => code.search(part) >= 0);
      return { code: cuts.reduce((rest, [part, remains]) => rest.replace(part, remains), code), map: null };
    },
    generateBundle() {
      if (!isSlim) throw new Error("zod is written in another way: adapt build/slim-zod.ts");
    },
  };
}
