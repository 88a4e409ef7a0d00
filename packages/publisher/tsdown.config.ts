import { defineConfig, type UserConfig } from "tsdown";

const settings: UserConfig = {
  // A bot that is compiled to CommonJS runs on every Node that the package supports: those before 20.19 cannot require ES modules.
  format: ["esm", "cjs"],
  target: "es2022",
  platform: "node",
  fixedExtension: false,
  dts: true,
  // A stack trace, and the line that Node prints above it, are read by whoever installs the package.
  minify: false,
  sourcemap: true,
  // What is needed of ad-core becomes part of the package. The router names types of the package itself.
  deps: { alwaysBundle: [/^@intermission\/(?!publisher)/], neverBundle: [/^@intermission\/publisher/] },
};

export default defineConfig([
  { ...settings, entry: ["src/publisher.ts", "src/grammy.ts", "src/node.ts"] },
  // On their own: files shared with these would split the core into more files, which compress worse.
  { ...settings, entry: ["src/companion.ts"] },
  { ...settings, entry: ["src/stores.ts"] },
  { ...settings, entry: ["src/companion-router.ts"], tsconfig: "../../tsconfig.router.json" },
  { ...settings, entry: ["src/testing.ts"] },
  { ...settings, entry: ["src/cli.ts"], format: "esm", dts: false },
]);
