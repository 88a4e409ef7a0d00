import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAds } from "./create-ads.ts";
import { fakeAdService } from "./testing/fake-ad-service.ts";

async function startCli(words: readonly string[], stdout: "pipe" | number) {
  const fake = fakeAdService();
  onTestFinished(() => fake.close());
  const url = await fake.listen();
  const env = { PATH: process.env.PATH, AD_SERVICE_URL: url, AD_API_TOKEN: fake.token, BOT_ID: fake.botId };
  const child = spawn(process.execPath, [join(import.meta.dirname, "cli.ts"), ...words], {
    env,
    stdio: ["ignore", stdout, "pipe"],
  });
  let complaints = "";
  child.stderr?.on("data", (chunk) => (complaints += chunk));
  const ended = once(child, "close").then(([code]) => ({ code, complaints }));
  const ads = createAds({ url, token: fake.token, botId: fake.botId });
  const earn = async (userId: number) => fake.earn((await ads.createCode({ userId })).code);
  return { child, ended, earn };
}

test("listen ends without an error when its output is closed, as by head", async () => {
  const { child, ended, earn } = await startCli(["listen"], "pipe");
  if (child.stdout === null) throw new Error("no output");
  await once(child.stdout, "data");
  child.stdout.destroy();
  let isOver = false;
  const over = ended.finally(() => (isOver = true));
  for (let user = 1; !isOver; user++) {
    await earn(user);
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  expect(await over).toEqual({ code: 0, complaints: "" });
}, 60_000);

test.skipIf(process.platform !== "linux")(
  "output that cannot be written, as onto a full disk, is a failure that says so",
  async () => {
    const { ended } = await startCli(["stats"], openSync("/dev/full", "w"));
    expect(await ended).toEqual({
      code: 1,
      complaints: expect.stringMatching(/^the output cannot be written: ENOSPC.*\n$/),
    });
  },
  60_000,
);
