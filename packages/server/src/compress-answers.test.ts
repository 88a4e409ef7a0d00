import { brotliDecompressSync, gunzipSync } from "node:zlib";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { compressAnswers } from "./compress-answers.ts";

const rows = Array.from({ length: 200 }, (_, index) => ({ campaignId: `cmp_${index}`, name: "Spring sale" }));

async function openServer() {
  const app = Fastify();
  onTestFinished(() => app.close());
  compressAnswers(app);
  app.get("/list", async () => ({ rows }));
  app.get("/short", async () => ({ rows: [] }));
  app.post("/list", async () => ({ rows }));
  return (url: string, encodings?: string, method: "GET" | "POST" = "GET") =>
    app.inject({ method, url, headers: encodings === undefined ? {} : { "accept-encoding": encodings } });
}

test("an answer is compressed as its client takes it, and is the same", async () => {
  const request = await openServer();
  for (const [accepted, encoding, expand] of [
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
  ] as const) {
    const { headers, rawPayload } = await request("/list", accepted);
    expect(headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding" });
    expect(JSON.parse(expand(rawPayload).toString())).toEqual({ rows });
    expect(rawPayload.byteLength).toBeLessThan(JSON.stringify({ rows }).length / 4);
  }
});

test("short answers, changes and clients that take no encoding get the text as it is", async () => {
  const request = await openServer();
  for (const answer of [
    await request("/short", "br"),
    await request("/list", "br", "POST"),
    await request("/list"),
    await request("/list", "identity, br;q=0"),
  ]) {
    expect(answer.headers["content-encoding"]).toBeUndefined();
    expect(answer.json()).toHaveProperty("rows");
  }
});
