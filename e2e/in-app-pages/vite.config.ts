import { join } from "node:path";
import { defineConfig } from "vite";

const pages = ["plain", "react", "vue", "adsgram", "monetag", "richads"];

export default defineConfig({
  build: { rolldownOptions: { input: pages.map((name) => join(import.meta.dirname, `${name}.html`)) } },
});
