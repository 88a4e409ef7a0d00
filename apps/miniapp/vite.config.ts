import { compress } from "@intermission/web-build/compress";
import { keepPreviousBuild } from "@intermission/web-build/keep-previous-build";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { bundled, inES5, inlineScripts } from "./build/inline-scripts.ts";
import { keepOut } from "./build/keep-out.ts";
import { leaveOut } from "./build/leave-out.ts";
import { minifyAgain } from "./build/minify-again.ts";
import { oldestBrowsers, refuseNewerThan } from "./build/old-browsers.ts";
import { plainImports } from "./build/plain-imports.ts";
import { printSizes } from "./build/print-sizes.ts";
import { pureInitialisers } from "./build/pure-initialisers.ts";

export default defineConfig(({ mode }) => ({
  base: "/app/",
  define: { "import.meta.env.IN_APP": "false" },
  plugins: [
    react(),
    inlineScripts([
      { entry: "src/start-failure.ts", maxBytes: 5120, compile: inES5 },
      { entry: "src/early-start.ts", maxBytes: 2048, compile: bundled },
    ]),
    plainImports(),
    keepOut("/src/gallery/"),
    keepOut("/src/preview/"),
    pureInitialisers("@telegram-apps/transformers"),
    // The app's queries are plain ones with the browser's timers: mutations, infinite queries, suspense, error boundaries,
    // restored queries and other timers would be 2.4 kB.
    leaveOut({
      "/@tanstack/query-core/build/modern/mutationCache.js":
        "export class MutationCache { resumePausedMutations() { return Promise.resolve(); } }",
      "/@tanstack/query-core/build/modern/infiniteQueryBehavior.js":
        "export const infiniteQueryBehavior = () => {}; export const hasNextPage = () => false, hasPreviousPage = hasNextPage;",
      // Requests are always tried, whatever the browser says of its network.
      "/@tanstack/query-core/build/modern/onlineManager.js":
        "export const onlineManager = { isOnline: () => true, subscribe: () => () => {} };",
      "/@tanstack/query-core/build/modern/timeoutManager.js":
        "export const timeoutManager = window, systemSetTimeoutZero = (call) => { setTimeout(call, 0); };",
      "/@tanstack/react-query/build/modern/QueryErrorResetBoundary.js":
        "export const useQueryErrorResetBoundary = () => {}, QueryErrorResetBoundary = useQueryErrorResetBoundary;",
      "/@tanstack/react-query/build/modern/IsRestoringProvider.js":
        "export const useIsRestoring = () => false, IsRestoringProvider = useIsRestoring;",
      "/@tanstack/query-core/build/modern/environmentManager.js":
        "export const isServer = () => false, environmentManager = { isServer };",
      "/@tanstack/react-query/build/modern/suspense.js":
        "export const ensureSuspenseTimers = () => {}, shouldSuspend = () => false, fetchOptimistic = ensureSuspenseTimers, defaultThrowOnError = shouldSuspend;",
      "/@tanstack/react-query/build/modern/errorBoundaryUtils.js":
        "export const ensurePreventErrorBoundaryRetry = () => {}, useClearResetErrorBoundary = ensurePreventErrorBoundaryRetry, getHasError = () => false;",
    }),
    mode === "production" && minifyAgain(),
    mode === "production" && refuseNewerThan(oldestBrowsers),
    // The limits do not apply to React's development build. That of all scripts counts the largest language, 3.7 kB of
    // them, and what few users load: refused codes, captions, the sheet about the ad, dialogs of old browsers.
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
    target: oldestBrowsers.syntax,
    cssTarget: oldestBrowsers.css,
    sourcemap: false,
    license: { fileName: "THIRD-PARTY.md" },
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The content security policy allows only files of this origin, so no data: URLs.
    assetsInlineLimit: 0,
    // The first load names the file of each language, and a hash does not compress: two characters less of each are 0.04 kB.
    rolldownOptions: { output: { chunkFileNames: "assets/[name]-[hash:6].js" } },
  },
}));
