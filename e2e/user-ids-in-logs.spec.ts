import { join } from "node:path";
import { root, runCommand } from "../scripts/processes.ts";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectNoUserIds, linesAbout, newCode, test } from "./stack.ts";

/** Each server's own command line, on its running server. */
async function runCli(server: "ad-service" | "api", words: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return runCommand(process.execPath, [join(root, `apps/${server}/src/cli.ts`), ...words], { env });
}

test("a view, a click, a refusal and the erasure leave a user's hash in the logs, the same at both servers, and never the id", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  // It starts six processes.
  test.setTimeout(180_000);
  const env = { DATA_DIR: stack.dataDirectory, MODE: "demo", ENCRYPTION_KEY: stack.secrets.encryptionKey };
  const [hash, ofApi] = await Promise.all(
    (["ad-service", "api"] as const).map(async (server) => (await runCli(server, ["log-id", userId], env)).trim()),
  );
  expect(hash).toMatch(/^u_[0-9a-f]{12}$/);
  expect(ofApi).toBe(hash);
  if (hash === undefined) throw new Error("the command printed nothing");

  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect.poll(() => api.listRewards(userId)).toHaveLength(1);
  // Of a reward, both servers together write one line at their default level.
  await expect.poll(() => linesAbout(hash).map(({ msg }) => msg)).toContain("an event is paid");
  expect(linesAbout(hash).filter(({ level }) => level >= 30)).toMatchObject([
    { name: "ad-service", msg: "a view is paid" },
  ]);

  const { directLink } = await newCode(api, userId);
  const agents = ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "curl/8.5.0"];
  for (const agent of agents)
    await fetch(directLink, { redirect: "manual", headers: { "user-agent": agent, "accept-language": "en" } });
  await expect.poll(() => linesAbout(hash).filter(({ msg }) => /click|visit/.test(msg))).not.toEqual([]);
  for (const path of [`/client/v1/codes?user_tg_id=${userId}`, `/app/${userId}`, `/nothing/${userId}`])
    await fetch(`${stack.urls.adService}${path}`);

  const { botId } = stack.secrets;
  const erasure = ["users", "erase", "--bot-id", botId, "--user-id", userId, "--yes"];
  // While a webhook is being sent, nothing is erased.
  const erased = () => runCli("ad-service", erasure, env).catch(String);
  await expect.poll(erased, { timeout: 60_000 }).toContain("Erased for good.");
  expect(await runCli("api", erasure, env)).toContain("Erased for good.");
  expectNoUserIds(stack);
});
