import type { Plugin } from "vite";

/**
 * Removes Vite's wrapper around dynamic imports. It would preload what an imported file imports, and its styles; here these
 * are loaded by then, and the helper takes 0.7 kB of the first load, its calls another 0.1. The wrapper of an import whose
 * exports are picked at once, as in `(await import("./a.ts")).a`, stays.
 */
export function plainImports(): Plugin {
  return {
    name: "plain-imports",
    apply: "build",
    enforce: "pre",
    load(id) {
      return id.endsWith("vite/preload-helper.js") ? "export const __vitePreload = (load) => load();" : undefined;
    },
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk") file.code = file.code.replace(wrappedImport, "$1");
      }
    },
  };
}

const wrappedImport = /[\w$]+\(\(\)=>(import\([^()]+\)),__VITE_PRELOAD__\)/g;
