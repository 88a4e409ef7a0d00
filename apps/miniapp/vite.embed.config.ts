import { compress } from "@intermission/web-build/compress";
import { keepPreviousBuild } from "@intermission/web-build/keep-previous-build";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { inAppScripts } from "./build/in-app-scripts.ts";
import { bundled, inlineScripts } from "./build/inline-scripts.ts";
import { minifyAgain } from "./build/minify-again.ts";
import { oldestBrowsers, refuseNewerThan } from "./build/old-browsers.ts";
import { printSizes } from "./build/print-sizes.ts";

/** The app in a frame of the publisher's own mini-app, and the script that shows it: a build of its own, so that the mini-app's users load nothing of it. */
export default defineConfig(({ mode }) => ({
  root: "embed",
  base: "/app/embed/",
  define: { "import.meta.env.IN_APP": "true" },
  plugins: [
    react(),
    inlineScripts([{ entry: "../src/in-app/early-frame.ts", maxBytes: 2048, compile: bundled }]),
    inAppScripts({
      "sdk-v1.js": { entry: "src/in-app/sdk.ts", maxKilobytes: 6 },
      "sdk-adsgram.js": { entry: "src/in-app/adsgram-names.ts", maxKilobytes: 6 },
      "sdk-monetag.js": { entry: "src/in-app/monetag-names.ts", maxKilobytes: 6 },
    }),
    mode === "production" && minifyAgain(),
    mode === "production" && refuseNewerThan(oldestBrowsers),
    // The frame's scripts are those of the mini-app, less its early start.
    mode === "production" &&
      printSizes({
        maxKilobytesToOffer: 94,
        maxKilobytesOfScript: 121,
        languages: ["/src/locales/", "/src/about-ad/texts/"],
      }),
    compress(),
    keepPreviousBuild(),
  ],
  build: {
    outDir: "../dist/embed",
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
