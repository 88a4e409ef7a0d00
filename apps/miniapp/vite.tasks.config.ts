import { compress } from "@intermission/web-build/compress";
import { keepPreviousBuild } from "@intermission/web-build/keep-previous-build";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { minifyAgain } from "./build/minify-again.ts";
import { oldestBrowsers, refuseNewerThan } from "./build/old-browsers.ts";
import { plainImports } from "./build/plain-imports.ts";
import { printSizes } from "./build/print-sizes.ts";
import { pureInitialisers } from "./build/pure-initialisers.ts";

/**
 * The user's list of tasks, for Telegram's window and for the frame of the publisher's own mini-app: a build of its own. As a lazy
 * part of the mini-app, it would move React's small modules into a second file of the first load of every ad.
 */
export default defineConfig(({ mode }) => ({
  root: "tasks",
  base: "/app/tasks/",
  define: { "import.meta.env.IN_APP": "false" },
  plugins: [
    react(),
    plainImports(),
    pureInitialisers("@telegram-apps/transformers"),
    mode === "production" && minifyAgain(),
    mode === "production" && refuseNewerThan(oldestBrowsers),
    mode === "production" &&
      printSizes({
        maxKilobytesToOffer: 81,
        maxKilobytesOfScript: 97,
        languages: ["/src/locales/", "/src/tasks/texts/"],
      }),
    compress(),
    keepPreviousBuild(),
  ],
  build: {
    outDir: "../dist/tasks",
    emptyOutDir: true,
    target: oldestBrowsers.syntax,
    cssTarget: oldestBrowsers.css,
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The content security policy allows only files of this origin, so no data: URLs.
    assetsInlineLimit: 0,
  },
}));
