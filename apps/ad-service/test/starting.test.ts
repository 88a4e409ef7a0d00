import { openDatabase } from "@intermission/postgres/open-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { openCliFixture } from "./fixtures/cli-fixture.ts";

test("while another node migrates, this one is alive, says what it waits for, and answers every surface 503", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const other = await openDatabase({ databaseUrl: server.url, dataDirectory: "", schema: "other", migrations: {} });
  onTestFinished(() => other.close());
  const release = Promise.withResolvers<void>();
  const lock = "select pg_advisory_lock(hashtext('intermission.migrate.ad_service'))";
  const migrating = other.withoutTimeout(async (client) => {
    await client.query(lock);
    await release.promise;
  });
  const started = fixture.startServer({ DATABASE_URL: server.url });
  const answer = async (path: string, accept = "*/*") => {
    const response = await fetch(`${fixture.address}${path}`, { headers: { accept } }).catch(() => undefined);
    return response && { status: response.status, text: await response.text(), headers: response.headers };
  };
  const reason = 'the start waits for another node, which migrates the schema \\"ad_service\\"';
  await expect.poll(async () => (await answer("/readyz"))?.text, { timeout: 30_000 }).toContain(reason);
  expect(await answer("/healthz")).toMatchObject({ status: 200 });
  for (const path of ["/client/v1/events", "/player/v1/sessions", "/operator/v1/status", "/aaaabbbbcccc"]) {
    const { status, text, headers } = (await answer(path)) ?? {};
    expect([path, status, headers?.get("retry-after"), JSON.parse(text ?? "")]).toEqual([
      path,
      503,
      "1",
      { error: { code: "UNAVAILABLE", message: "the service is starting; retry later" } },
    ]);
  }
  for (const path of ["/app/7000000001", "/aaaabbbbcccc"])
    expect(await answer(path, "text/html")).toMatchObject({
      status: 503,
      text: expect.stringMatching(/^<!doctype html>/),
    });
  release.resolve();
  await migrating;
  const { child, end, ended } = await started;
  const [{ msg, version }] = ended.out.split("\n").map((line) => JSON.parse(line || "{}"));
  expect([msg, version]).toEqual(["starting", expect.stringMatching(/^0\.1\.0\+[0-9a-f]{10}/)]);
  expect(JSON.parse((await answer("/readyz"))?.text ?? "")).toMatchObject({ version });
  const opened = await other.run({ name: "", text: "select max(opened_by) as by from ad_service.migrations" }, []);
  expect(opened).toEqual([{ by: version }]);
  expect(await answer("/client/v1/events")).toMatchObject({ status: 401 });
  child.kill("SIGTERM");
  expect((await end).code).toBe(0);
});
