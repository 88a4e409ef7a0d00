import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";

let fixture: CliFixture;
let server: Awaited<ReturnType<CliFixture["startServer"]>>;
let folder: string;
const botId = newTelegramId();
const video = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");

const ads = (words: readonly string[], env?: NodeJS.ProcessEnv) => fixture.ads(words, env);
const json = async (words: readonly string[]) => {
  const ended = await ads([...words, "--json"]);
  expect(ended).toMatchObject({ code: 0, err: "" });
  return JSON.parse(ended.out);
};

beforeAll(async () => {
  fixture = await openCliFixture();
  server = await fixture.startServer();
  folder = await mkdtemp(join(tmpdir(), "intermission-cli-files-"));
  await json(["bots", "add", "--bot-id", botId]);
});
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.end;
  await rm(folder, { recursive: true, force: true });
  await fixture.close();
});

const link = ["--format", "direct_link", "--landing-url", "https://shop.example/"];
const addLink = (name: string, advertiser: string, more: readonly string[] = []) =>
  ads(["campaigns", "add", "--name", name, "--advertiser", advertiser, ...link, ...more, "--json"]);

/** Each command takes as long as all other work of its test: of tests that vary one, every sixth runs always. */
const someOf = (index: number) => (index % 6 === 0 ? [] : ["long"]);

test("a reward is named by its unit's words in each language, and none clears it", async () => {
  const update = (...words: string[]) => json(["bots", "update", botId, ...words]);
  const units = ["--reward-unit", "en:one=coin,other=coins", "--reward-unit", "id:other=koin"];
  expect(await update("--reward-per-view", "10", "--reward-per-click", "3", ...units)).toMatchObject({
    rewardPerView: 10,
    rewardPerClick: 3,
    rewardUnit: { en: { one: "coin", other: "coins" }, id: { other: "koin" } },
  });
  const cleared = await update("--reward-per-view", "none", "--reward-per-click", "none", "--reward-unit", "none");
  expect(cleared).toMatchObject({ rewardPerView: null, rewardPerClick: null, rewardUnit: null });
});

describe("faults of settings", () => {
  const faults: [words: string[], flag: string, field: string | undefined][] = [
    [["bots", "update", botId, "--code-lifetime", "5"], "--code-lifetime", "codeLifetimeSeconds"],
    [["bots", "update", botId, "--cooldown", "99999999"], "--cooldown", "cooldownSeconds"],
    [["bots", "update", botId, "--daily-cap", "0"], "--daily-cap", "dailyCap"],
    [["bots", "update", botId, "--reward-per-view", "10"], "--reward-unit", "rewardUnit"],
    [["bots", "update", botId, "--reward-per-view", "0"], "--reward-per-view", "rewardPerView"],
    [["bots", "update", botId, "--reward-unit", "ru:one=монета,other=монеты"], "--reward-unit", "rewardUnit"],
    [["bots", "update", botId, "--username", "@me"], "--username", undefined],
    [["bots", "update", botId, "--webhook-url", "example.com"], "--webhook-url", "webhookUrl"],
    [["bots", "update", botId, "--publisher-api-url", "x"], "--publisher-api-url", "publisherApiUrl"],
    [["bots", "update", botId, "--block-category", "Ca sino"], "--block-category", "blockedCategories"],
    [["bots", "update", botId, "--time-zone", "Mars"], "--time-zone", "timeZone"],
    [["campaigns", "add", "--advertiser", "A", ...link], "--name", undefined],
    [["campaigns", "add", "--name", "N", ...link], "--advertiser", undefined],
    [
      ["campaigns", "add", "--name", "N", "--advertiser", "A", "--format", "direct_link"],
      "--landing-url",
      "landingUrl",
    ],
    [["campaigns", "add", "--name", "N", "--advertiser", "A", "--format", "rewarded"], "--video", "creativeIds"],
    [["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--weight", "0"], "--weight", undefined],
    [
      ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--total-view-cap", "0"],
      "--total-view-cap",
      "totalViewCap",
    ],
    [
      ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--user-cap", "3/4000d"],
      "--user-cap",
      "userCapSeconds",
    ],
    [
      ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--languages", "english"],
      "--languages",
      "targeting",
    ],
    [["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--hours", "30"], "--hours", "targeting"],
    [["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--bots", "x"], "--bots", "targeting"],
    [
      [
        "campaigns",
        "add",
        "--name",
        "N",
        "--advertiser",
        "A",
        ...link,
        "--starts-at",
        "2026-02-01",
        "--ends-at",
        "2026-01-01",
      ],
      "--ends-at",
      "endsAt",
    ],
    [["endpoints", "set", botId, "--max-in-flight", "99"], "--max-in-flight", "maxInFlight"],
    [["deliveries", "list", "--limit", "5000"], "--limit", "limit:"],
    [["deliveries", "list", "--before", "no event!"], "--before", undefined],
    [["events", "list", "--bot-id", botId, "--after", "nonsense"], "--after", undefined],
    [["stats", "--from", "2026-03-02", "--to", "2026-03-01"], "--from", " to$"],
    [["stats", "--campaign-id", "no id!"], "--campaign-id", "campaignId"],
    [["explain", "--bot-id", botId, "--user-id", "1", "--language", "english"], "--language", undefined],
    [["tokens", "activate", "nonsense", "--bot-id", botId], "<token-id>", "tokenId"],
  ];
  for (const [index, [words, flag, field]] of faults.entries()) {
    test(`the fault of ${words.join(" ")} names the flag ${flag}, not a field`, { tags: someOf(index) }, async () => {
      const ended = await ads(words);
      expect(ended).toMatchObject({ code: 1, out: "", err: expect.stringMatching(new RegExp(`${flag}\\b|${flag}`)) });
      expect(ended.err).toMatch(/^ads: /);
      if (field !== undefined) expect(ended.err.replaceAll(/--[\w-]+/g, "")).not.toMatch(new RegExp(field));
      expect(ended.err).not.toMatch(/Too small|Too big|Invalid input|expected/);
    });
  }
});

describe("moments on the command line", () => {
  const commands: Record<string, readonly string[]> = {
    "--starts-at": ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--starts-at"],
    "--ends-at": ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--ends-at"],
    "--from": ["stats", "--from"],
    "--to": ["stats", "--to"],
    "--failed-since": ["deliveries", "replay", "--bot-id", botId, "--failed-since"],
    "--everything-since": ["deliveries", "replay", "--bot-id", botId, "--everything-since"],
  };
  const faults: readonly [moment: string, words: string][] = [
    ["2027-02-30", "2027-02 has 28 days"],
    ["2026-06-31", "2026-06 has 30 days"],
    ["1804000000", "Unix time in seconds: write it as 2027-03-02T15:06:40Z"],
    ["03/04/2027", "such as 2026-01-31"],
    ["2027-01-31T08:00:00", "offset"],
    ["9999-12-31", "years"],
  ];
  for (const [index, flag] of Object.keys(commands).entries())
    for (const [moment, words] of faults) {
      // Each fault once, and one fault at each flag.
      const tags = index === 0 || moment === "2027-02-30" ? [] : ["long"];
      test(`${flag} ${moment} is refused and says how to write it`, { tags }, async () => {
        const ended = await ads([...(commands[flag] ?? []), moment]);
        expect(ended).toMatchObject({ code: 2, out: "" });
        expect(ended.err).toContain(`option '${flag}`);
        expect(ended.err).toContain(words);
      });
    }

  test("a time ago is for the past: a campaign has none", async () => {
    expect(await ads([...(commands["--ends-at"] ?? []), "30d"])).toMatchObject({ code: 2 });
    expect(await ads(["stats", "--from", "999999d"])).toMatchObject({ code: 2 });
    expect(await ads(["stats", "--from", "604800s"])).toMatchObject({ code: 0 });
  });

  test("offsets and lower-case letters are read as RFC 3339 says", async () => {
    const added = await addLink("Offsets", "A", [
      "--starts-at",
      "2027-03-01t09:00:00+09:00",
      "--ends-at",
      "2027-03-02",
    ]);
    expect(JSON.parse(added.out)).toMatchObject({
      startsAt: "2027-03-01T00:00:00.000Z",
      endsAt: "2027-03-02T00:00:00.000Z",
    });
  });
});

describe("amounts on the command line", () => {
  test.each([
    ["--daily-budget", "5,000,000", "write 5000000"],
    ["--daily-budget", "0,05", "write 0.05"],
    ["--total-budget", "5 000 000", "write 5000000"],
    ["--total-budget", "0", "from 0.000001 to 100000000000"],
    ["--total-budget", "100000000001", "from 0.000001 to 100000000000"],
    ["--click-price", "$5", "write 5"],
    ["--view-price", ".5", "write 0.5"],
    ["--view-price=-1", undefined, "from 0 to 1000000000"],
  ])("%s %s is refused with the bounds and how to write it", async (flag, amount, words) => {
    const written = amount === undefined ? [flag] : [flag, amount];
    const ended = await addLink("Amounts", "A", written);
    expect(ended).toMatchObject({ code: 2, out: "", err: expect.stringContaining(words) });
    expect(ended.err).toMatch(/from 0(\.000001)? to 1000000000/);
  });

  test("budgets of currencies of high denominations are kept and shown with all their digits", async () => {
    const added = await addLink("Dong", "A", [
      "--click-price",
      "500",
      "--daily-budget",
      "5000000",
      "--total-budget",
      "50000000000",
    ]);
    const { campaignId, ...campaign } = JSON.parse(added.out);
    expect(campaign).toMatchObject({ dailyBudgetMicros: 5_000_000_000_000, totalBudgetMicros: 50_000_000_000_000_000 });
    expect((await ads(["campaigns", "show", campaignId])).out).toMatch(/totalBudget +50000000000\n/);
  });
});

describe("hours and weekdays on the command line", () => {
  const night = [22, 23, 0, 1, 2, 3, 4, 5, 6];
  const ranges: [flag: string, range: string, targeting: object][] = [
    ["--hours", "22-6", { hours: night }],
    ["--hours", "22-1,12", { hours: [22, 23, 0, 1, 12] }],
    ["--hours", "23-0", { hours: [23, 0] }],
    ["--hours", "8-10", { hours: [8, 9, 10] }],
    ["--hours", "5-5", { hours: [5] }],
    ["--weekdays", "6-1", { weekdays: [6, 7, 1] }],
    ["--weekdays", "7-1", { weekdays: [7, 1] }],
    ["--weekdays", "1-5", { weekdays: [1, 2, 3, 4, 5] }],
  ];
  for (const [index, [flag, range, targeting]] of ranges.entries()) {
    test(`${flag} ${range} goes on over midnight and over the end of the week`, { tags: someOf(index) }, async () => {
      expect(JSON.parse((await addLink("Times", "A", [flag, range])).out)).toMatchObject({ targeting });
    });
  }

  test.each([
    ["--hours", "30-6", "from 0 to 23, such as 8-22, 22-6"],
    ["--hours", "22:00-06:00", "from 0 to 23, such as 8-22, 22-6"],
    ["--weekdays", "6-0", "from 1 to 7, such as 1-5, 6-1"],
    ["--weekdays", "sat-mon", "from 1 to 7, such as 1-5, 6-1"],
  ])("%s %s is refused with an example", async (flag, range, words) => {
    expect(await addLink("Times", "A", [flag, range])).toMatchObject({ code: 2, err: expect.stringContaining(words) });
  });

  test.each([
    ["--hours", "22-24"],
    ["--weekdays", "0-1"],
    ["--hours", "22-6,0-2"],
  ])("%s %s is refused by the server, which names the flag", async (flag, range) => {
    expect(await addLink("Times", "A", [flag, range])).toMatchObject({ code: 1, err: expect.stringContaining(flag) });
  });
});

describe("an unknown bot, campaign or creative", () => {
  const nobody = "4242424242";
  const ofNobody: string[][] = [
    ["bots", "show", nobody],
    ["bots", "update", nobody, "--name", "x"],
    ["bots", "suspend", nobody],
    ["tokens", "create", "--bot-id", nobody],
    ["tokens", "activate", "tok_8fJ2kLm4Qr9T", "--bot-id", nobody],
    ["tokens", "revoke", "tok_8fJ2kLm4Qr9T", "--bot-id", nobody],
    ["endpoints", "show", nobody],
    ["endpoints", "test", nobody],
    ["endpoints", "enable", nobody],
    ["endpoints", "set", nobody, "--max-in-flight", "3"],
    ["events", "list", "--bot-id", nobody],
    ["deliveries", "list", "--bot-id", nobody],
    ["deliveries", "replay", "--bot-id", nobody, "--failed-since", "2h"],
    ["views", "list", "--bot-id", nobody],
    ["stats", "--bot-id", nobody],
    ["explain", "--bot-id", nobody, "--user-id", "1"],
    ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--bots", `${botId},${nobody}`],
    ["campaigns", "add", "--name", "N", "--advertiser", "A", ...link, "--excluded-bots", nobody],
  ];
  for (const [index, words] of ofNobody.entries()) {
    test(`${words.join(" ")} is refused: there is no such bot`, { tags: someOf(index) }, async () => {
      expect(await ads(words)).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(new RegExp(`there is no bot ${nobody}; see all with: bots list`)),
      });
    });
  }

  const ofNothing: [words: string[], name: string][] = [
    [["campaigns", "show", "cmp_none"], "campaign cmp_none"],
    [["campaigns", "update", "cmp_none", "--weight", "2"], "campaign cmp_none"],
    [["campaigns", "update", "cmp_none", "--hours", "8-9"], "campaign cmp_none"],
    [["campaigns", "archive", "cmp_none"], "campaign cmp_none"],
    [["campaigns", "attach", "cmp_none", "cre_none"], "campaign cmp_none"],
    [["stats", "--campaign-id", "cmp_none"], "campaign cmp_none"],
    [["stats", "--creative-id", "cre_none"], "creative cre_none"],
    [["creatives", "show", "cre_none"], "creative cre_none"],
    [
      ["creatives", "poster", "cre_none", join(import.meta.dirname, "../../../docs/images/chat.jpg")],
      "creative cre_none",
    ],
    [
      ["campaigns", "add", "--name", "N", "--advertiser", "A", "--format", "rewarded", "--creative", "cre_none"],
      "creative cre_none",
    ],
    [["advertisers", "key", "Nobody"], "advertiser Nobody"],
    [["advertisers", "rename", "Nobody", "Somebody"], "advertiser Nobody"],
  ];
  for (const [index, [words, name]] of ofNothing.entries()) {
    test(`${words.join(" ")} is refused: there is no ${name}`, { tags: someOf(index) }, async () => {
      expect(await ads(words)).toMatchObject({ code: 1, out: "", err: expect.stringContaining(`there is no ${name}`) });
    });
  }
});

test("explain takes --bot-id and --user-id, as every other command does", async () => {
  const ended = await ads(["explain", "--bot-id", botId, "--user-id", "1"]);
  expect(ended).toMatchObject({ code: 0, err: "" });
  const help = await ads(["explain", "--help"]);
  expect(help.out).toContain("--bot-id <id>");
});

describe("files", () => {
  test("an empty file is reported as empty, whatever it is for", async () => {
    const empty = join(folder, "empty.mp4");
    await writeFile(empty, "");
    const { creativeId } = await json(["creatives", "add", video]);
    for (const words of [
      ["creatives", "add", empty],
      ["creatives", "add", video, "--poster", empty],
      ["creatives", "add", video, "--captions", `en=${empty}`],
      ["creatives", "poster", creativeId, empty],
      ["creatives", "captions", creativeId, `en=${empty}`],
      ["campaigns", "add", "--name", "N", "--advertiser", "A", "--format", "rewarded", "--video", empty],
    ]) {
      const ended = await ads(words);
      expect({ words, ...ended }).toMatchObject({ words, code: 2, err: expect.stringContaining("The file is empty") });
    }
  });

  test("an empty upload to the server is also reported as empty", async () => {
    const { creativeId } = await json(["creatives", "add", video]);
    const headers = {
      authorization: `Bearer ${fixture.operatorToken}`,
      "content-type": "application/octet-stream",
    };
    for (const [method, path] of [
      ["POST", "/creatives?name=empty.mp4"],
      ["PUT", `/creatives/${creativeId}/poster`],
      ["PUT", `/creatives/${creativeId}/captions/en`],
    ] as const) {
      const answer = await fetch(`${fixture.address}/operator/v1${path}`, { method, headers, body: new Uint8Array() });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(/\bis empty/) } });
    }
  });

  for (const [name, closes] of [
    ["answers and keeps reading", false],
    ["answers and closes the connection", true],
  ] as const) {
    test(`a proxy that refuses a large upload is reported with its limit if it ${name}`, async () => {
      const proxy = await startProxy(1000, closes);
      const { port } = proxy.address() as AddressInfo;
      const env = { OPERATOR_TOKEN: fixture.operatorToken, ADS_URL: `http://127.0.0.1:${port}` };
      expect(await ads(["bots", "list"], env)).toMatchObject({ code: 0 });
      const ended = await ads(["creatives", "add", video], env);
      proxy.closeAllConnections();
      proxy.close();
      expect(ended.code).toBe(1);
      expect(ended.err).toMatch(/proxy.*413.*client_max_body_size/s);
      expect(ended.err).not.toContain("is the address right?");
    });
  }

  test("a proxy with an unreachable server is not reported as a wrong address", async () => {
    const proxy = createServer((_request, response) =>
      response.writeHead(502, { "content-type": "text/html" }).end("<html><h1>502 Bad Gateway</h1></html>"),
    );
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as AddressInfo;
    const env = { OPERATOR_TOKEN: fixture.operatorToken, ADS_URL: `http://127.0.0.1:${port}` };
    const ended = await ads(["bots", "list"], env);
    proxy.close();
    expect(ended).toMatchObject({ code: 3, err: expect.stringMatching(/proxy answered 502/) });
  });

  /** Answers as nginx does above `client_max_body_size`: an HTML page, while the upload is still being sent. */
  async function startProxy(maxBytes: number, closes: boolean): Promise<Server> {
    const proxy = createServer((incoming, response) => {
      const refuse = () => {
        response.writeHead(413, { "content-type": "text/html", connection: "close" });
        response.end("<html><head><title>413 Request Entity Too Large</title></head></html>");
        if (closes) response.once("finish", () => incoming.socket.destroySoon());
        else incoming.resume();
      };
      if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) return refuse();
      const chunks: Buffer[] = [];
      let length = 0;
      incoming.on("data", (chunk: Buffer) => {
        const before = length;
        length += chunk.length;
        if (length <= maxBytes) chunks.push(chunk);
        else if (before <= maxBytes) refuse();
      });
      incoming.on("end", () => {
        if (length > maxBytes) return;
        const { host: _, "transfer-encoding": __, ...headers } = incoming.headers;
        const upstream = request(
          { host: "127.0.0.1", port: fixture.port, path: incoming.url, method: incoming.method, headers },
          (answer) => {
            response.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(response);
          },
        );
        upstream.end(Buffer.concat(chunks));
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    return proxy;
  }
});

describe("contradictory limits", () => {
  test.each([
    ["--daily-budget", "11", "--total-budget", "10"],
    ["--daily-view-cap", "11", "--total-view-cap", "10"],
    ["--daily-click-cap", "11", "--total-click-cap", "10"],
  ])("a daily limit above the total is refused: %s %s, %s %s", async (daily, more, total, less) => {
    const refused = { code: 1, err: expect.stringMatching(new RegExp(`${daily}.*${total}`)) };
    const bothFormats = [
      "--format",
      "rewarded",
      "direct_link",
      "--landing-url",
      "https://shop.example/",
      "--video",
      video,
    ];
    const add = ["campaigns", "add", "--name", "Limits", "--advertiser", "Acme", ...bothFormats];
    expect(await ads([...add, daily, more, total, less])).toMatchObject(refused);
    const { campaignId } = await json([...add, daily, less, total, less]);
    expect(await ads(["campaigns", "update", campaignId, daily, more])).toMatchObject(refused);
    expect(await ads(["campaigns", "update", campaignId, total, "9"])).toMatchObject(refused);
    expect(await ads(["campaigns", "update", campaignId, total, "none", daily, more])).toMatchObject({ code: 0 });
    await ads(["campaigns", "archive", campaignId]);
  });
});

describe("advertisers", () => {
  test("names are equal in any case and with any blanks around them, and keep their first spelling", async () => {
    const spellings = ["Zeta Büro", "zeta büro", " ZETA  BÜRO ", "Zeta Bu\u0308ro"];
    const added = await Promise.all(spellings.map((name, index) => addLink(`Case ${index}`, name)));
    const names = new Set(added.map(({ out }) => JSON.parse(out).advertiser));
    expect(names.size).toBe(1);
    const listed: { name: string; campaigns: number }[] = await json(["advertisers", "list"]);
    expect(listed.filter(({ name }) => /zeta/i.test(name))).toEqual([
      expect.objectContaining({ name: [...names][0], campaigns: 4 }),
    ]);
    expect(await json(["advertisers", "key", "zeta BÜRO"])).toMatchObject({ advertiser: [...names][0] });
  });

  test("a renamed advertiser keeps its campaigns, its key and the bots that block it", async () => {
    const { campaignId } = JSON.parse((await addLink("Renamed", "Old Name")).out);
    await json(["bots", "update", botId, "--block-advertiser", "OLD NAME", "--block-advertiser", "Other", "--yes"]);
    const { key } = await json(["advertisers", "key", "Old Name"]);
    expect(await json(["advertisers", "rename", "old name", "New Name"])).toMatchObject({ name: "New Name" });
    expect(await json(["campaigns", "show", campaignId])).toMatchObject({ advertiser: "New Name" });
    expect(await json(["bots", "show", botId])).toMatchObject({ blockedAdvertisers: ["New Name", "Other"] });
    const query = new URLSearchParams({ click_id: "clk_none", key });
    expect((await fetch(`${fixture.address}/postback/v1/conversions?${query}`)).status).toBe(404);
    expect(await ads(["advertisers", "key", "Old Name"])).toMatchObject({ code: 1 });
    const explained = await ads(["explain", "--bot-id", botId, "--user-id", "1", "--format", "direct_link"]);
    expect(explained.out).toMatch(new RegExp(`^${campaignId} .*the bot blocks its advertiser`, "m"));
    // Only the case changes, and then back to a name that is free again.
    expect(await json(["advertisers", "rename", "new name", "NEW name"])).toMatchObject({ name: "NEW name" });
    expect(await json(["advertisers", "rename", "new name", "Old Name"])).toMatchObject({ name: "Old Name" });
  });

  test("another advertiser's name is refused, in any case", async () => {
    await addLink("One", "First Shop");
    await addLink("Two", "Second Shop");
    expect(await ads(["advertisers", "rename", "Second Shop", "FIRST shop"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is already an advertiser First Shop"),
    });
    expect(await ads(["advertisers", "rename", "Second Shop", "  "])).toMatchObject({ code: 1 });
  });

  test("a block applies to an advertiser that is added later in another case", async () => {
    const blocker = newTelegramId();
    await json(["bots", "add", "--bot-id", blocker, "--block-advertiser", "later co", "--yes"]);
    const { campaignId } = JSON.parse((await addLink("Later", "Later Co")).out);
    const explained = await ads(["explain", "--bot-id", blocker, "--user-id", "1", "--format", "direct_link"]);
    expect(explained.out).toMatch(new RegExp(`^${campaignId} .*the bot blocks its advertiser`, "m"));
  });
});

describe("an effect that is rarely meant is named, and happens only with --yes", () => {
  const refused = async (words: readonly string[], ...sentences: string[]) => {
    const ended = await ads(words);
    expect(ended).toMatchObject({ code: 1, out: "" });
    for (const sentence of [...sentences, "Nothing was changed. If this is meant, add --yes."]) {
      expect(ended.err).toContain(sentence);
    }
    await json([...words, "--yes"]);
  };

  test("an unknown macro, an advertiser like another, and an end in the past", async () => {
    await addLink("Meant", "Confirmed Goods");
    await refused(
      [
        "campaigns",
        "add",
        "--name",
        "N",
        "--advertiser",
        "Confirmd Goods",
        "--format",
        "direct_link",
        "--landing-url",
        "https://shop.example/?c={clickid}",
        "--ends-at",
        "2020-01-01",
      ],
      "--landing-url: {clickid} is no macro and is sent as it stands; the macros are {click_id}, ",
      '--advertiser: makes a new advertiser with reports and a postback key of its own; there is already "Confirmed Goods"',
      "--ends-at: 2020-01-01T00:00:00.000Z is in the past, so the campaign never runs",
    );
    const { campaignId } = JSON.parse((await addLink("Running", "Confirmed Goods")).out);
    const update = ["campaigns", "update", campaignId, "--ends-at", "2020-01-01"];
    await refused(update, "--ends-at: 2020-01-01T00:00:00.000Z is in the past, so the campaign ends now");
  });

  test("a block of nobody", async () => {
    await addLink("Blocked", "Casino Royal");
    const update = ["bots", "update", botId, "--block-advertiser", "Casino Royale"];
    await refused(
      update,
      '--block-advertiser: there is no advertiser "Casino Royale", so this blocks nobody until one has that name; there is "Casino Royal"',
    );
    await json(["bots", "update", botId, "--block-advertiser", "casino ROYAL"]);
    await json(["bots", "update", botId, "--block-advertiser", "none"]);
  });

  test("a tag that does not answer", async () => {
    await refused(
      ["creatives", "add-tag", "http://127.0.0.1/vast"],
      "<url>: returned no ad that can be shown: blocked-address: 127.0.0.1 is not a public address (VAST error 301); while that lasts, its campaigns are passed over",
    );
  });
});

test("the price or the cap of a format that a campaign does not have is refused: it would run free", async () => {
  const campaign = ["campaigns", "add", "--name", "N", "--advertiser", "A"];
  for (const flag of ["--view-price", "--total-view-cap", "--daily-view-cap"]) {
    expect(await ads([...campaign, ...link, flag, "5"])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${flag}: is for videos, and this campaign has only direct links`),
    });
  }
  expect(await ads([...campaign, "--format", "rewarded", "--video", video, "--click-price", "0.1"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("--click-price: is for direct links, and this campaign has only videos"),
  });
});

test("each column of the tables has one unit", async () => {
  await addLink("Columns", "Columns");
  await json(["creatives", "add", video]);
  await json(["creatives", "add-tag", "https://tags.example.net/vast?columns=1", "--yes"]);
  for (const words of [
    ["stats", "--by", "hour", "--from", "2h"],
    ["creatives", "list"],
    ["endpoints", "list"],
    ["explain", "--bot-id", botId, "--user-id", "1", "--format", "direct_link"],
  ]) {
    const { code, out } = await ads(words);
    expect(code).toBe(0);
    const lines = out.split("\n");
    const headLine = lines.findIndex((line) => /^[A-Z][A-Z ]+ {2}/.test(line));
    const starts = [...(lines[headLine] ?? "").matchAll(/(?:^| {2})\S/g)].map(
      ({ index, 0: { length } }) => index + length - 1,
    );
    const rows = lines.slice(headLine + 1, lines.indexOf("", headLine + 1)).filter((line) => !line.startsWith(" "));
    for (const [place, start] of starts.entries()) {
      const cells = rows.map((row) => row.slice(start, starts[place + 1]).trim());
      // The decimals and the unit of each number in the column; an en dash is a missing value.
      const units = new Set(
        cells.flatMap((cell) => {
          if (cell === "–") return [];
          const [match, fraction = "", unit = ""] = /^-?\d+(\.\d+)?( ?[a-z%]+(?: ago)?)?$/i.exec(cell) ?? [];
          return [match === undefined ? "text" : `${fraction.length} ${unit}`];
        }),
      );
      expect({ words, head: lines[headLine]?.slice(start, starts[place + 1]).trim(), units: [...units] }).toMatchObject(
        {
          units: units.size === 0 ? [] : [expect.anything()],
        },
      );
    }
  }
});
