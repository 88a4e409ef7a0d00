import type { Plugin } from "vite";

/**
 * The server says which routes a person may use. Fails the build if a script contains the table of all of them: each route of
 * the operator's API would make every screen larger.
 */
export function keepOutAccess(): Plugin {
  return {
    name: "keep-out-access",
    apply: "build",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const [id, { renderedExports }] of Object.entries(file.modules)) {
          if (!id.endsWith("/operator-api/src/access.ts") || !renderedExports.includes("accessOf")) continue;
          throw new Error(`${file.fileName} contains the table of access: use useMay of session/use-session.ts`);
        }
      }
    },
  };
}
