import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./build/compress.ts";
import { inlineEarlyStart } from "./build/inline-early-start.ts";
import { keepOut } from "./build/keep-out.ts";
import { minifyAgain } from "./build/minify-again.ts";
import { plainImports } from "./build/plain-imports.ts";
import { printSizes } from "./build/print-sizes.ts";

export default defineConfig(({ mode }) => ({
  base: "/app/",
  plugins: [
    react(),
    inlineEarlyStart({ entry: "src/early-start.ts", mostBytes: 2048 }),
    plainImports(),
    keepOut("/src/gallery/"),
    mode === "production" && minifyAgain(),
    // The limits do not apply to React's development build.
    mode === "production" &&
      printSizes({ mostKilobytesToOffer: 92, mostKilobytesOfScript: 112, languages: "/src/locales/" }),
    compress(),
  ],
  build: {
    // Telegram's web views: iOS 15.4 or later, Android System WebView 100 or later. They have all of ES2022 but class static
    // blocks, which `printSizes` refuses. Naming Safari 15 would compile #members to WeakMaps, 0.8 kB more.
    target: "es2022",
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The content security policy allows only files of this origin, so no data: URLs.
    assetsInlineLimit: 0,
  },
}));
