import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** For development and for visual tests of every state; not part of the app's build. */
export default defineConfig({
  plugins: [react()],
  build: {
    rolldownOptions: { input: "gallery.html" },
    target: ["chrome100", "safari15.4", "firefox100"],
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
