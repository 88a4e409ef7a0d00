import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

/** Each takes 10 to 22 MB of memory once it is loaded. */
const large = ["mediabunny", "@scalar/fastify-api-reference", "@aws-sdk/client-s3"];

test("a server loads the libraries of uploads, of buckets and of the API reference only when they are needed", () => {
  const app = pathToFileURL(`${import.meta.dirname}/../src/app.ts`).href;
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(app)});
    console.log(JSON.stringify(loaded));
  `;
  const loaded: string[] = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  );
  const isLoaded = (name: string) => loaded.some((url) => url.includes(`/node_modules/${name}/`));
  expect(isLoaded("fastify")).toBe(true);
  expect(large.filter(isLoaded)).toEqual([]);
});
