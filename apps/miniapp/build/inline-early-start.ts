import { join } from "node:path";
import { build, type Plugin } from "vite";
import { minifyScript } from "./minify-again.ts";
import { oldestBrowsers } from "./old-browsers.ts";

const PLACE = "<!--early-start-->";

/**
 * Inlines one small classic script into the page, so that it runs before any file arrives. It is type-checked and minified
 * like the other files; the server that serves the page allows it by its hash in the content security policy.
 */
export function inlineEarlyStart({ entry, mostBytes }: { entry: string; mostBytes: number }): Plugin {
  let root = "";
  return {
    name: "inline-early-start",
    configResolved(config) {
      root = config.root;
    },
    transformIndexHtml: {
      order: "pre",
      async handler(html) {
        if (!html.includes(PLACE)) throw new Error(`index.html has no ${PLACE}`);
        const script = await bundle(join(root, entry));
        const bytes = Buffer.byteLength(script);
        if (bytes > mostBytes)
          throw new Error(`${entry} is ${bytes} bytes inline, more than the limit of ${mostBytes}`);
        console.log(`inline ${entry}: ${bytes} bytes of ${mostBytes}`);
        // A function, because a replacement string would interpret "$&" in the script as a pattern.
        return html.replace(PLACE, () => `<script>${script}</script>`);
      },
    },
  };
}

async function bundle(entry: string): Promise<string> {
  const outputs = await build({
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      target: oldestBrowsers.syntax,
      minify: true,
      modulePreload: false,
      lib: { entry, formats: ["iife"], name: "earlyStartScript", fileName: "early-start" },
    },
  });
  const output = Array.isArray(outputs) ? outputs[0] : outputs;
  const chunk = output && "output" in output ? output.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error(`${entry} was not bundled`);
  const script = (await minifyScript(chunk.code, "classic")).trim();
  if (script.includes("</script"))
    throw new Error(`${entry} contains "</script", which would close its script element`);
  return script;
}
