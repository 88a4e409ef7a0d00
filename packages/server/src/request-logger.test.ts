import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createHttpServer } from "./http-server.ts";

test("each line of a request contains its id, and a request without lines makes no logger", async () => {
  const lines: { reqId?: string; msg: string }[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  let made = 0;
  const logger = pino({ level: "warn", onChild: () => made++ }, destination);
  const app = createHttpServer({ logger });
  app.get("/quiet", async () => "ok");
  app.get("/loud", async ({ log }) => {
    log.info("below the level");
    log.warn("half of %d", 2);
    log.child({ part: "b" }).error({ err: new Error("broken") }, "said");
    return log.level;
  });
  await app.ready();
  made = 0;
  await app.inject("/quiet");
  expect(made).toBe(0);
  const { body } = await app.inject({ url: "/loud", headers: { "x-request-id": "request-of-mine" } });
  expect(body).toBe("warn");
  expect(lines).toMatchObject([
    { reqId: "request-of-mine", msg: "half of 2" },
    { reqId: "request-of-mine", part: "b", err: { message: "broken" }, msg: "said" },
  ]);
  await app.close();
});
