import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { httpOperatorClient } from "./operator-client.ts";
import { list, subject, verb } from "./route-commands.ts";

const bots = subject("bots", "bots", {
  update: verb("updateBot", { description: "change settings of a bot", options: { testers: { flag: "tester" } } }),
  add: verb("addCampaign", {
    description: "add a campaign",
    options: { formats: { flag: "format" } },
    without: ["userCapSeconds"],
  }),
  list: list("listBots", "bots", { description: "all bots", columns: { ID: "botId", NAME: "name" } }),
  typo: list("listBots", "bots", {
    description: "all bots",
    // @ts-expect-error a column that the answer does not have does not compile
    columns: { ID: "botIdentifier" },
  }),
});

/** Runs a command against a server that answers each request with the next answer. */
async function run(words: readonly string[], answers: readonly object[]) {
  const sent: { target: string | undefined; body: unknown }[] = [];
  const printed: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    sent.push({ target: request.url, body: body === "" ? undefined : JSON.parse(body) });
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers[sent.length - 1]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = httpOperatorClient({ url, operatorToken: "o".repeat(32) });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const program = new Command("ads").exitOverride().configureOutput({ writeErr: () => {} });
  bots(program, {
    ...client,
    print: (_answer, asText) => printed.push(asText()),
    copy: async () => {},
    isJson: () => false,
  });
  await program.parseAsync(words, { from: "user" });
  return { sent, printed: printed.join("\n") };
}

test("options become the fields of the route: none is null, or an empty list; flags of yes and no are booleans", async () => {
  const words = "bots update 7000000001 --username none --tester none --cooldown 30 --skip-offer yes --yes".split(" ");
  const { sent } = await run(words, [{ botId: "7000000001" }]);
  expect(sent).toEqual([
    {
      target: "/operator/v1/bots/7000000001?confirmed=true",
      body: { username: null, testers: [], cooldownSeconds: 30, skipOffer: true },
    },
  ]);
});

test("amounts are sent in micros, and fields of an object inside of it", async () => {
  const words =
    "bots add --name A --advertiser B --format rewarded --format direct_link --view-price 0.002 --billing credit";
  const { sent } = await run(words.split(" "), [{ campaignId: "cmp_1" }]);
  expect(sent[0]?.body).toMatchObject({
    formats: ["rewarded", "direct_link"],
    viewPriceMicros: 2000,
    newAdvertiser: { billing: "credit" },
  });
});

test("a list is read to its end, and printed as a table or as comma-separated values", async () => {
  const pages = [
    { bots: [{ botId: "1", name: "=One, Ltd" }], next: "cursor" },
    { bots: [{ botId: "2", name: "Two" }], next: null },
  ];
  const table = await run(["bots", "list"], pages);
  expect(table.printed).toBe("ID  NAME\n1   =One, Ltd\n2   Two");
  expect(table.sent.map(({ target }) => target)).toEqual(["/operator/v1/bots", "/operator/v1/bots?after=cursor"]);
  expect((await run(["bots", "list", "--csv"], pages)).printed).toBe('\uFEFFID,NAME\r\n1,"\'=One, Ltd"\r\n2,Two\r');
});

test.each([
  ["a choice", "bots update 7000000001 --skip-offer maybe", "Allowed choices are yes, no"],
  ["an amount", "bots add --name A --advertiser B --format rewarded --view-price 1,5", "must be an amount"],
  ["an id", "bots update @bot", "It must be a Telegram id"],
  ["a required field", "bots add --name A --advertiser B", "required option '--format"],
])("%s is checked before anything is sent", async (_what, words, message) => {
  await expect(run(words.split(" "), [])).rejects.toThrow(message);
});
