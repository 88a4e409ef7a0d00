import { compress } from "@intermission/web-build/compress";
import { keepPreviousBuild } from "@intermission/web-build/keep-previous-build";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { dropDescriptions } from "./build/drop-descriptions.ts";
import { keepOutRoutes } from "./build/keep-out-routes.ts";
import { limitFirstScreen } from "./build/limit-first-screen.ts";
import { slimZod } from "./build/slim-zod.ts";
import { splitWords } from "./build/split-words.ts";

export default defineConfig(({ mode }) => ({
  base: "/console/",
  plugins: [
    react(),
    dropDescriptions(),
    slimZod(),
    keepOutRoutes(),
    splitWords(),
    // React's development build is larger.
    mode === "production" && limitFirstScreen({ maxKilobytes: 192 }),
    compress(),
    keepPreviousBuild(),
  ],
  build: {
    sourcemap: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Otherwise one screen contains them, and each form of money or of a channel loads that screen.
        codeSplitting: {
          groups: [
            { name: "money", test: /operator-api\/src\/money\.ts$/ },
            { name: "publisher-money", test: /operator-api\/src\/publisher-money\.ts$/ },
            { name: "payout-runs", test: /operator-api\/src\/payout-runs\.ts$/ },
            {
              name: "tasks",
              test: /operator-api\/src\/tasks\.ts$|console\/src\/tasks\/(?:channel-rights|words)\.tsx?$/,
            },
          ],
        },
      },
    },
    // The content security policy allows only files of this origin, so no data: URLs.
    assetsInlineLimit: 0,
  },
}));
