import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./build/compress.ts";
import { inlineEarlyStart } from "./build/inline-early-start.ts";
import { keepOut } from "./build/keep-out.ts";
import { plainImports } from "./build/plain-imports.ts";
import { printSizes } from "./build/print-sizes.ts";

export default defineConfig(({ mode }) => ({
  base: "/app/",
  plugins: [
    react(),
    inlineEarlyStart({ entry: "src/early-start.ts", mostBytes: 2048 }),
    plainImports(),
    keepOut("/src/gallery/"),
    // The limits do not apply to React's development build.
    mode === "production" &&
      printSizes({ mostKilobytesToOffer: 92, mostKilobytesOfScript: 115, languages: "/src/locales/" }),
    compress(),
  ],
  build: {
    // Telegram's web views: iOS 15.4 or later, Android System WebView 100 or later.
    // For Safari 15, #members compile to WeakMaps: classes of the first load use `private` instead, which saves 0.5 kB.
    target: ["chrome100", "safari15.4", "firefox100"],
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The content security policy allows only files of this origin, so no data: URLs.
    assetsInlineLimit: 0,
  },
}));
