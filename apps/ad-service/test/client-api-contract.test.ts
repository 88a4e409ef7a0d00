import { clientApiContract } from "@intermission/testing/client-api-contract";
import { personAgents } from "@intermission/testing/visitor-agents";
import { openCliFixture } from "./fixtures/cli-fixture.ts";
import { eventually } from "./fixtures/delivery-fixture.ts";
import { newAddress } from "./fixtures/direct-link-fixture.ts";

/** The same tests run against the fake of @intermission/publisher/testing. */
clientApiContract("the ad service", async (webhookUrl) => {
  const fixture = await openCliFixture();
  const server = await fixture.startServer({ WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8", TRUST_PROXY: "loopback" });
  if (server.child.exitCode !== null) throw new Error((await server.end).err);
  const json = async (...words: string[]) => JSON.parse((await fixture.ads([...words, "--json"])).out);
  const campaign = ["--name", "Shop", "--advertiser", "Acme", "--format", "direct_link"];
  await fixture.ads(["campaigns", "add", ...campaign, "--landing-url", "https://example.com/"]);
  const botId = "7000000001";
  const { token } = await json("bots", "add", "--bot-id", botId, "--name", "Coins", "--webhook-url", webhookUrl);
  await eventually(
    () => json("endpoints", "show", botId),
    ({ state }) => state === "active",
    20_000,
  );
  return {
    address: fixture.address,
    botId,
    token,
    async followLink(link) {
      const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en", "x-forwarded-for": newAddress() };
      return (await fetch(link, { redirect: "manual", headers })).status;
    },
    async close() {
      server.child.kill("SIGTERM");
      await server.end;
      await fixture.close();
    },
  };
});
