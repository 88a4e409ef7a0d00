import { compress } from "@intermission/web-build/compress";
import { keepPreviousBuild } from "@intermission/web-build/keep-previous-build";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The player in the console's frame: a build of its own, so that viewers load nothing of it. */
export default defineConfig({
  root: "preview",
  base: "/app/preview/",
  plugins: [react(), compress(), keepPreviousBuild()],
  build: {
    outDir: "../dist/preview",
    emptyOutDir: true,
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The content security policy allows only files of this origin, so no data: URLs.
    assetsInlineLimit: 0,
  },
});
