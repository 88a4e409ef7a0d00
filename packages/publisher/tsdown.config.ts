import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/publisher.ts", "src/grammy.ts", "src/node.ts", "src/stores.ts", "src/testing.ts"],
  format: "esm",
  target: "es2022",
  platform: "node",
  fixedExtension: false,
  dts: true,
  minify: true,
  // What is needed of ad-core becomes part of the package.
  deps: { alwaysBundle: [/^@intermission\//] },
});
