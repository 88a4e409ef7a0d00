import type { Plugin } from "vite";

/** Fails the build if it contains a module of this folder. */
export function keepOut(folder: string): Plugin {
  return {
    name: "keep-out",
    apply: "build",
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const found = modules.filter((module) => module.includes(folder));
      if (found.length > 0) throw new Error(`${found.join(", ")} must not be in the build`);
      console.log(`${modules.length} modules, none of them from ${folder}`);
    },
  };
}
