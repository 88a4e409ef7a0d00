// @module-tag enlarged
// @module-tag long
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase, statement } from "./open-database.ts";
import { listenForever } from "./open-store.ts";

const one = statement<{ one: number }>("one", "select 1 as one");
const soon = { timeout: 20_000 };

/** A TCP proxy that can break every connection and refuse new ones, or stop forwarding. */
async function openProxy(target: URL) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("close", () => far.destroy());
    far.on("close", () => client.destroy());
    if (isCut) client.destroy();
    client.pipe(far).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = new URL(target);
  url.host = `127.0.0.1:${address.port}`;
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut() {
      isCut = true;
      destroyAll();
    },
    restore() {
      isCut = false;
    },
    /** Stops forwarding on the current connections; new ones work. */
    stall() {
      for (const socket of sockets) socket.pause().unpipe();
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function openThroughProxy() {
  const server = await createServerDatabase();
  const proxy = await openProxy(new URL(server.url));
  const dataDirectory = mkdtempSync(join(tmpdir(), "lost-"));
  const database = await openDatabase({ databaseUrl: proxy.url, dataDirectory, schema: "shop", migrations: {} });
  onTestFinished(async () => {
    await database.close();
    await proxy.close();
    await server.drop();
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  return { server, proxy, database };
}

/** Notices are hints, so one may get lost during the reconnect; repeated notices arrive. */
async function expectNotices(database: Database, heard: string[], word: string): Promise<void> {
  const isHeard = async () => {
    await database.notify("bell", word).catch(() => {});
    return heard.includes(word);
  };
  await expect.poll(isHeard, soon).toBe(true);
}

describe("lost connections to a server", () => {
  test("notices arrive again after the listening session was killed", async () => {
    const { server, database } = await openThroughProxy();
    const heard: string[] = [];
    await database.listen("bell", (payload) => heard.push(payload));
    await expectNotices(database, heard, "before");
    const administrator = new pg.Client({ connectionString: server.url });
    await administrator.connect();
    const { rowCount } = await administrator.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen%'",
    );
    await administrator.end();
    expect(rowCount).toBe(1);
    await expectNotices(database, heard, "after");
  });

  test("while every connection is cut, requests fail immediately; afterwards everything works again", async () => {
    const { proxy, database } = await openThroughProxy();
    const heard: string[] = [];
    await database.listen("bell", (payload) => heard.push(payload));
    await Promise.all(Array.from({ length: 5 }, () => database.run(one, [])));
    proxy.cut();
    const until = performance.now() + (process.env.LONG_TESTS === "true" ? 10_000 : 2500);
    while (performance.now() < until) {
      await expect(database.run(one, [])).rejects.toThrow();
      await wait(100);
    }
    proxy.restore();
    await expect.poll(() => database.run(one, []).catch(() => []), soon).toEqual([{ one: 1 }]);
    await expectNotices(database, heard, "after");
  });

  test("a listening connection that does not respond is detected and replaced", async () => {
    const server = await createServerDatabase();
    const proxy = await openProxy(new URL(server.url));
    const warnings: string[] = [];
    const logger = { info() {}, warn: (_facts: object, message: string) => warnings.push(message) };
    const listener = listenForever({ connectionString: proxy.url }, "shop", logger, { lookEveryMs: 100 });
    const heard: string[] = [];
    await listener.listen("bell", (payload) => heard.push(payload));
    const sender = new pg.Client({ connectionString: server.url });
    await sender.connect();
    proxy.stall();
    await expect.poll(() => warnings, soon).toContain("the listening connection does not respond");
    await expect
      .poll(async () => {
        await sender.query("select pg_notify('shop.bell', 'after')");
        return heard;
      }, soon)
      .toContain("after");
    await sender.end();
    await listener.close();
    await proxy.close();
    await server.drop();
  });
});
