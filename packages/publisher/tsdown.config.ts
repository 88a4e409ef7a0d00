import { defineConfig, type UserConfig } from "tsdown";

const settings: UserConfig = {
  // A bot that is compiled to CommonJS runs on every Node that the package supports: those before 20.19 cannot require ES modules.
  format: ["esm", "cjs"],
  target: "es2022",
  platform: "node",
  fixedExtension: false,
  dts: true,
  // A stack trace, and the line that Node prints above it, are read by whoever installs the package: its files are readable
  // as they are. Their maps, which repeat the sources, were 61 % of it.
  minify: false,
  sourcemap: false,
  // What is needed of ad-core becomes part of the package. The router names types of the package itself.
  deps: { alwaysBundle: [/^@intermission\/(?!publisher)/], neverBundle: [/^@intermission\/publisher/] },
};

export default defineConfig([
  { ...settings, entry: ["src/publisher.ts", "src/grammy.ts"] },
  // On their own: files shared with these would split the core into more files, which compress worse.
  { ...settings, entry: ["src/node.ts"] },
  { ...settings, entry: ["src/companion.ts"] },
  { ...settings, entry: ["src/stores.ts"] },
  { ...settings, entry: ["src/in-app.ts"] },
  { ...settings, entry: ["src/companion-router.ts"], tsconfig: "../../tsconfig.router.json" },
  { ...settings, entry: ["src/testing.ts"] },
  { ...settings, entry: ["src/cli.ts"], format: "esm", dts: false },
]);
