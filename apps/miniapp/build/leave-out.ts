import type { Plugin } from "vite";

/**
 * Replaces modules of packages that the app loads and never uses. `stubs` has what remains of each, by the end of its path. Fails
 * the build for one that is not there any more.
 */
export function leaveOut(stubs: Readonly<Record<string, string>>): Plugin {
  const left = new Set(Object.keys(stubs));
  return {
    name: "leave-out",
    apply: "build",
    enforce: "pre",
    load(id) {
      const path = Object.keys(stubs).find((end) => id.endsWith(end));
      if (path === undefined) return undefined;
      left.delete(path);
      return stubs[path];
    },
    generateBundle() {
      if (left.size > 0) throw new Error(`${[...left].join(", ")} is in no package: remove it from leaveOut`);
    },
  };
}
