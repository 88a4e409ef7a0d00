import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./build/compress.ts";
import { inlineEarlyStart } from "./build/inline-early-start.ts";
import { keepOut } from "./build/keep-out.ts";
import { printSizes } from "./build/print-sizes.ts";

export default defineConfig(({ mode }) => ({
  base: "/app/",
  plugins: [
    react(),
    inlineEarlyStart({ entry: "src/early-start.ts", mostBytes: 2048 }),
    keepOut("/src/gallery/"),
    // React's development build is no measure.
    mode === "production" && printSizes({ mostKilobytesOfScript: 115, languages: "/src/locales/" }),
    compress(),
  ],
  build: {
    // Telegram's own web views: iOS 15.4 and Android System WebView 100 on.
    // For Safari 15 members named with # become WeakMaps: classes of the first load say `private`, which saves 0.5 kB.
    target: ["chrome100", "safari15.4", "firefox100"],
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The content security policy admits files of this origin only.
    assetsInlineLimit: 0,
  },
}));
