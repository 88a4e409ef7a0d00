import type { Plugin } from "vite";

/**
 * The server says which routes a person may use. Fails the build if a script contains the table of all of them: each route of
 * the operator's API would make every screen larger.
 */
export function keepOutRoutes(): Plugin {
  return {
    name: "keep-out-routes",
    apply: "build",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const [id, { renderedExports }] of Object.entries(file.modules)) {
          if (!id.endsWith("/operator-api/src/operator-routes.ts") || renderedExports.length === 0) continue;
          throw new Error(`${file.fileName} contains the table of routes: use useMay of session/use-session.ts`);
        }
      }
    },
  };
}
