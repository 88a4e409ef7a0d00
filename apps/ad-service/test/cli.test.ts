import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@intermission/postgres/open-database";
import { askServer } from "@intermission/testing/copy-database";
import { copyCluster, createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";

let fixture: CliFixture;
beforeAll(async () => {
  fixture = await openCliFixture();
});
afterAll(() => fixture.close());

const ads: CliFixture["ads"] = (words, env) => fixture.ads(words, env);
const adsProcess: CliFixture["ads"] = (words, env) => fixture.adsProcess(words, env);

describe("without a store", () => {
  test("no store and no folder is created, the next step is printed, and the exit code is 3", async () => {
    const env = { ENCRYPTION_KEY: fixture.encryptionKey, DATA_DIR: join(fixture.dataDir, "mistyped") };
    const ended = await adsProcess(["bots", "list"], env);
    expect(ended).toMatchObject({ code: 3, out: "", err: expect.stringMatching(/^ads: .*holds no store.*DATA_DIR/) });
    expect(ended.err).not.toContain("    at ");
    expect(existsSync(env.DATA_DIR)).toBe(false);
  });

  test("an incomplete store is refused and left unchanged", { tags: "long" }, async () => {
    const env = { ENCRYPTION_KEY: fixture.encryptionKey, DATA_DIR: join(fixture.dataDir, "part") };
    const store = join(env.DATA_DIR, "postgres");
    await mkdir(join(store, "base"), { recursive: true });
    const ended = await adsProcess(["bots", "list"], env);
    expect(ended).toMatchObject({ code: 3, out: "", err: expect.stringMatching(/^ads: .*not a whole store/) });
    expect(await readdir(store)).toEqual(["base"]);
  });

  test.runIf(process.env.TEST_DATABASE_URL)(
    "an empty database is reported as empty, and stays empty",
    { tags: "long" },
    async () => {
      const database = await createServerDatabase();
      const ended = await adsProcess(["bots", "list"], {
        ENCRYPTION_KEY: fixture.encryptionKey,
        DATABASE_URL: database.url,
      });
      expect(ended).toMatchObject({
        code: 3,
        out: "",
        err: expect.stringMatching(/^ads: .*no schema "ad_service" yet/),
      });
      await database.drop();
    },
  );
});

describe("without a server", () => {
  beforeAll(() => fixture.makeStore());

  test("without a key the command line prints the next step, and exits with 3", { tags: "long" }, async () => {
    const ended = await adsProcess(["bots", "list"]);
    expect(ended).toMatchObject({ code: 3, out: "" });
    expect(ended.err).toContain("ENCRYPTION_KEY");
    expect(ended.err).not.toContain("    at ");
  });

  test("with the key it opens the store itself, and what it writes stays", { tags: "long" }, async () => {
    const botId = newTelegramId();
    const env = { ENCRYPTION_KEY: fixture.encryptionKey };
    const added = await adsProcess(
      ["bots", "add", "--bot-id", botId, "--webhook-url", "https://example.com/w", "--json"],
      env,
    );
    expect(added).toMatchObject({ code: 0, err: "" });
    const bot: unknown = JSON.parse(added.out);
    expect(bot).toMatchObject({ botId, webhookUrl: "https://example.com/w", token: expect.stringMatching(/^ad_/) });
    const listed = await adsProcess(["bots", "list"], env);
    expect(listed.out).toMatch(new RegExp(`^${botId} +Bot ${botId} +active`, "m"));
  });

  test("a fault behind the opening of the store ends the command, too", { tags: "long" }, async () => {
    const database = await createServerDatabase();
    const [databaseUrl, place] = [database.url, { dataDirectory: "", schema: "ad_service", migrations }];
    await (await openDatabase({ databaseUrl, ...place })).close();
    // As where a right is missing: the sums cannot be counted on.
    await askServer(databaseUrl, "alter table ad_service.stats_progress rename to gone");
    const ended = await adsProcess(["bots", "list"], {
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEY: fixture.encryptionKey,
    });
    await database.drop();
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("stats_progress") });
  });

  test("several concurrent commands share the store that one of them opened", { tags: "long" }, async () => {
    const env = { ENCRYPTION_KEY: fixture.encryptionKey };
    const ended = await Promise.all([1, 2, 3].map(() => adsProcess(["bots", "list", "--json"], env)));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    // On a busy machine a command says that it waits for the one that opens the store.
    for (const { err } of ended) expect(err).toMatch(/^(?:.* does not answer yet; trying again for a minute\n)?$/);
  });

  test.each([
    ["an unknown command", ["bots", "remove"]],
    ["a missing option", ["bots", "add"]],
    ["an invalid id", ["bots", "show", "@bot"]],
    ["a missing file", ["campaigns", "add", "--format", "rewarded", "--video", "nowhere.mp4"]],
  ])("%s is wrong usage: 2, with a hint at --help", async (_name, words) => {
    const ended = await ads(words);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toContain("--help");
  });

  test.each([
    [["--help"]],
    [["bots", "add", "--help"]],
    [["tokens", "activate", "--help"]],
    [["campaigns", "add", "--help"]],
    [["events", "list", "--help"]],
    [["deliveries", "show", "--help"]],
    [["deliveries", "replay", "--help"]],
    [["endpoints", "test", "--help"]],
    [["views", "release", "--help"]],
    [["stats", "--help"]],
  ])("%j prints its help without a server", async (words) => {
    const ended = await ads(words);
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(ended.out).toContain("Usage: ads");
    if (words.length > 1) expect(ended.out).toContain("$ pnpm ads ");
  });
});

describe("with a running server", () => {
  let server: Awaited<ReturnType<CliFixture["startServer"]>>;
  beforeAll(async () => {
    server = await fixture.startServer({ TRUST_PROXI: "1" });
  });
  afterAll(async () => {
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
  });

  test("the command line uses the socket in the data folder, without any secret", async () => {
    const botId = newTelegramId();
    const { token } = JSON.parse((await adsProcess(["bots", "add", "--bot-id", botId, "--json"])).out);
    const response = await fetch(`${fixture.address}/client/v1/codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ bot_id: botId, user_tg_id: "1" }),
    });
    expect(response.status).toBe(200);
    expect(await adsProcess(["bots", "add", "--bot-id", botId])).toMatchObject({
      code: 1,
      err: expect.stringContaining("exists already"),
    });
  });

  test("a mistyped setting is reported by the server and by the command line, whose answer stays as it is", async () => {
    const typed = { DATABSE_URL: "postgres://me:hush-hush@127.0.0.1/ads" };
    const { code, out, err } = await ads(["bots", "list", "--json"], typed);
    expect({ code, err }).toEqual({
      code: 0,
      err: "ads: DATABSE_URL is set, and nothing reads it: did you mean DATABASE_URL?\n",
    });
    expect(JSON.parse(out)).toEqual(expect.any(Array));
    expect(server.ended.out).toMatch(
      /"level":40,.*TRUST_PROXI is set, and nothing reads it: did you mean TRUST_PROXY\?/,
    );
  });

  test("the command line says its version, that of the server, and which store both speak of", async () => {
    const version = expect.stringMatching(/^0\.1\.0\+[0-9a-f]{10}(-dirty)?( \(\d{4}-\d\d-\d\d\)\n)?$/);
    expect(await ads(["--version"])).toMatchObject({ code: 0, out: version, err: "" });
    const status = { version, commandLine: version, store: { server: "socket", database: "postgres" } };
    const { out } = await ads(["status", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ ...status, schema: Object.keys(migrations).sort().at(-1) });
    expect(JSON.parse(out).kept).toContainEqual({ rows: "attempts", days: 30, since: expect.any(String) });
    const weeks = (Date.parse(JSON.parse(out).partitionsUntil) - Date.now()) / (7 * 86_400_000);
    expect([weeks > 3.9, weeks < 5.1]).toEqual([true, true]);
    const shown = (await ads(["status"])).out;
    expect(shown).toMatch(/^command line +0\.1\.0\+\S+\nserver +0\.1\.0\+\S+\nschema +\d{4}-/);
    expect(shown).toMatch(/^partitions until +\d{4}-\d\d-\d\d 00:00:00Z\nkept +.*"attempts":"30 days"/m);
  });

  test("a person is invited by a link that is shown once, and the audit trail says who did it", async () => {
    const invited = JSON.parse((await ads(["people", "add", "Ann@example.com", "--role", "owner", "--json"])).out);
    expect(invited.link).toMatch(/\/console\/invitation#[\w-]{43}$/);
    const listed = await ads(["people", "list"]);
    expect(listed.out).toContain("ann@example.com");
    expect(listed.out).not.toContain(invited.link);
    const wrong = await ads(["people", "add", "eve@example.com", "--role", "publisher"]);
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining("--bot-id: is needed for the role publisher"),
    });
    expect((await ads(["audit", "list", "--operation", "invitePerson"])).out).toMatch(
      /command-line .*invitePerson .*per_/,
    );
  });

  test("over an address the operator's token is required", async () => {
    const env = { ADS_URL: fixture.address };
    expect(await ads(["bots", "list"], { ...env, OPERATOR_TOKEN: fixture.operatorToken })).toMatchObject({
      code: 0,
    });
    expect(await ads(["bots", "list"], { ...env, OPERATOR_TOKEN: "wrong" })).toMatchObject({ code: 1 });
    expect(await ads(["bots", "list"], env)).toMatchObject({ code: 3 });
    const nowhere = await ads(["bots", "list", "--url", "http://127.0.0.1:1"], {
      OPERATOR_TOKEN: fixture.operatorToken,
    });
    expect(nowhere).toMatchObject({ code: 3, err: expect.stringContaining("does not answer") });
    for (const [url, err] of [
      [fixture.address.replace("http:", "https:"), "speaks no TLS"],
      [`${fixture.address}/operator/v1`, "has no such operator's API"],
      ["", "--url is empty"],
    ] as const) {
      const ended = await ads(["bots", "list", "--url", url], { ...env, OPERATOR_TOKEN: fixture.operatorToken });
      expect(ended).toMatchObject({ code: 3, out: "", err: expect.stringContaining(err) });
    }
  });

  test("an answer that cannot be written is no success: it may be a token that is shown once", async () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, "../src/cli.ts"), "bots", "list"],
      {
        env: { PATH: process.env.PATH, DATA_DIR: fixture.dataDir },
        encoding: "utf8",
        stdio: ["ignore", full, "pipe"],
      },
    );
    closeSync(full);
    expect(stderr).toMatch(/^ads: the command was done, but its answer could not be written .*ENOSPC/);
    expect(status).toBe(4);
  });

  test("a token rotates: create, activate, revoke", async () => {
    const botId = newTelegramId();
    const first = JSON.parse((await ads(["bots", "add", "--bot-id", botId, "--json"])).out);
    const next = JSON.parse((await ads(["tokens", "create", "--bot-id", botId, "--json"])).out);
    expect(next).toMatchObject({ state: "next", token: expect.stringMatching(/^ad_/) });
    expect(await ads(["tokens", "activate", next.tokenId, "--bot-id", botId])).toMatchObject({ code: 0 });
    expect(await ads(["tokens", "revoke", first.tokenId, "--bot-id", botId])).toMatchObject({ code: 0 });
    const shown = await ads(["bots", "show", botId]);
    expect(shown.out).toMatch(new RegExp(`^${next.tokenId} +active`, "m"));
    expect(shown.out).toMatch(new RegExp(`^${first.tokenId} +revoked`, "m"));
    expect(shown.out).not.toContain(next.token);
  });

  test("a bot's settings change, and none clears one", async () => {
    const botId = newTelegramId();
    await ads(["bots", "add", "--bot-id", botId, "--webhook-url", "http://127.0.0.1:9/w", "--cooldown", "5"]);
    const updated = JSON.parse(
      (await ads(["bots", "update", botId, "--webhook-url", "none", "--tester", "1", "--tester", "2", "--json"])).out,
    );
    expect(updated).toMatchObject({ webhookUrl: null, testers: ["1", "2"], cooldownSeconds: 5 });
    const tastes = ["--category", "games", "--time-zone", "Europe/Berlin", "--block-category", "casino"];
    const advertisers = ["--block-advertiser", "Acme, Inc.", "--block-advertiser", "Bolt", "--yes"];
    const tasted = await ads(["bots", "update", botId, ...tastes, ...advertisers, "--json"]);
    expect(JSON.parse(tasted.out)).toMatchObject({
      category: "games",
      timeZone: "Europe/Berlin",
      blockedCategories: ["casino"],
      blockedAdvertisers: ["Acme, Inc.", "Bolt"],
    });
    const cleared = await ads(["bots", "update", botId, "--category", "none", "--block-advertiser", "none", "--json"]);
    expect(JSON.parse(cleared.out)).toMatchObject({
      category: null,
      blockedAdvertisers: [],
      timeZone: "Europe/Berlin",
    });
    for (const zone of ["Mars/Olympus", "+03:00", "berlin"]) {
      const refused = await ads(["bots", "update", botId, "--time-zone", zone]);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("time zone") });
    }
    expect(await ads(["bots", "update", botId])).toMatchObject({
      code: 1,
      err: expect.stringContaining("at least one setting"),
    });
    const face = ["bots", "picture", botId];
    // Of the size that needs no ffmpeg.
    const square = join(import.meta.dirname, "../sample/bot-picture.webp");
    expect(JSON.parse((await ads([...face, square, "--json"])).out).pictureFileName).toMatch(/^[0-9a-f]{64}\./);
    expect(JSON.parse((await ads([...face, "none", "--json"])).out).pictureFileName).toBeNull();
    expect(await ads(["bots", "unit-icon", botId, import.meta.filename])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cli\.test\.ts was not added: .*JPEG, PNG or WebP.*then run: bots unit-icon \d+ /),
    });
    const suspended = JSON.parse((await ads(["bots", "suspend", botId, "--json"])).out);
    expect(suspended.isSuspended).toBe(true);
  });

  test("a campaign is created from a video, paused and resumed", async () => {
    const video = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");
    const vtt = video.replace(".mp4", ".en.vtt");
    const words = ["--name", "House", "--advertiser", "Us", "--format", "rewarded", "--video", video, "--json"];
    const added = JSON.parse((await ads(["campaigns", "add", ...words])).out);
    expect(added).toMatchObject({ status: "active", creatives: [{ creativeId: expect.stringMatching(/^cre_/) }] });
    expect(JSON.parse((await ads(["campaigns", "pause", added.campaignId, "--json"])).out)).toMatchObject({
      status: "paused",
    });
    expect((await ads(["campaigns", "list"])).out).toMatch(new RegExp(`^${added.campaignId} .*paused`, "m"));
    const weighted = JSON.parse((await ads(["campaigns", "update", added.campaignId, "--weight", "7", "--json"])).out);
    expect(weighted).toMatchObject({ weight: 7, name: "House", status: "paused" });

    const [{ creativeId }] = added.creatives;
    expect((await ads(["creatives", "list"])).out).toMatch(new RegExp(`^${creativeId} +video/mp4 +2.0 +180×320`, "m"));
    const captions = await ads(["creatives", "captions", creativeId, `en=${vtt}`, `pt-BR=${vtt}`]);
    expect(captions.err).toBe("");
    expect(captions.out).toMatch(/^captions +.*"language":"en".*"language":"pt-BR"/m);
    const removed = JSON.parse((await ads(["creatives", "captions", creativeId, "--remove", "en", "--json"])).out);
    expect(removed.captions).toMatchObject([{ language: "pt-BR" }]);
    const legal = JSON.parse((await ads(["creatives", "legal-line", creativeId, " Shop Ltd, no. 1 ", "--json"])).out);
    expect(legal).toMatchObject({ legalLine: "Shop Ltd, no. 1" });
    const tooLong = await ads(["creatives", "legal-line", creativeId, "x".repeat(257)]);
    expect(tooLong).toMatchObject({ out: "", err: expect.stringContaining("must have 1 to 256 characters") });
    expect(await ads(["creatives", "legal-line", creativeId])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Give the text, or --remove."),
    });
    const cleared = JSON.parse((await ads(["creatives", "legal-line", creativeId, "--remove", "--json"])).out);
    expect(cleared).toMatchObject({ legalLine: null });
    await ads(["creatives", "legal-line", creativeId, "Shop Ltd"]);
    const marked = JSON.parse((await ads(["creatives", "erid", creativeId, " 2VtzqwP8x4a ", "--json"])).out);
    expect(marked).toMatchObject({ erid: "2VtzqwP8x4a", legalLine: "Shop Ltd" });
    const noErid = await ads(["creatives", "erid", creativeId, "2Vtz qwP8"]);
    expect(noErid).toMatchObject({ code: 1, out: "", err: expect.stringContaining("must be an erid: 4 to 64 Latin") });
    const unmarked = JSON.parse((await ads(["creatives", "erid", creativeId, "--remove", "--json"])).out);
    expect(unmarked).toMatchObject({ erid: null, legalLine: "Shop Ltd" });
    const reports = await ads(["creatives", "reports", "--creative-id", creativeId, "--limit", "1", "--json"]);
    expect(JSON.parse(reports.out)).toEqual({ reports: [], next: null, hasMore: false });
    expect(await ads(["creatives", "reports", "--creative-id", "cre_none"])).toMatchObject({
      out: "",
      err: expect.stringContaining("there is no creative cre_none"),
    });
    expect(await ads(["creatives", "add", video, "--captions", `ru=${video}`])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/clip-2s.mp4 was not added: .*creatives captions cre_/),
    });
    expect(await ads(["creatives", "poster", creativeId, vtt])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/en\.vtt was not added: .*JPEG, PNG or WebP.*creatives poster cre_/),
    });
    const picture = join(import.meta.dirname, "../../../docs/images/chat.jpg");
    const pictured = JSON.parse((await ads(["creatives", "poster", creativeId, picture, "--json"])).out);
    expect(pictured.posterFileName).toMatch(/^[0-9a-f]{64}\.jpg$/);
    expect(await ads(["creatives", "add"])).toMatchObject({ code: 2, err: expect.stringContaining("--from") });
    expect(await ads(["creatives", "add", "--from", "http://127.0.0.1:9/x.mp4"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/127\.0\.0\.1:9\/x\.mp4 could not be fetched: blocked-address/),
    });
    const attach = ["campaigns", "attach", added.campaignId, creativeId, "--label", "Us and friends", "--json"];
    expect(JSON.parse((await ads(attach)).out).creatives).toMatchObject([{ weight: 1, label: "Us and friends" }]);
    expect(await ads(["campaigns", "detach", added.campaignId, creativeId])).toMatchObject({
      code: 1,
      err: expect.stringContaining("last video"),
    });
    const update = ["campaigns", "update", added.campaignId, "--json"];
    const sold = ["--view-price", "0.0025", "--daily-budget", "12", "--user-cap", "3/24h", "--hours", "8-10,22"];
    expect(JSON.parse((await ads([...update, ...sold, "--premium", "yes"])).out)).toMatchObject({
      viewPriceMicros: 2500,
      dailyBudgetMicros: 12_000_000,
      userCap: 3,
      userCapSeconds: 86_400,
      targeting: { hours: [8, 9, 10, 22], premium: true },
    });
    const loosening = await ads([...update, "--daily-budget", "none", "--premium", "any"]);
    expect(loosening.err).toBe("");
    const loosened = JSON.parse(loosening.out);
    expect(loosened).toMatchObject({ dailyBudgetMicros: null, userCap: 3, targeting: { hours: [8, 9, 10, 22] } });
    const botId = newTelegramId();
    await ads(["bots", "add", "--bot-id", botId]);
    const paused = await ads(["explain", "--bot-id", botId, "--user-id", "501"]);
    expect(paused.out).not.toContain(added.campaignId);
    await ads(["campaigns", "resume", added.campaignId]);
    const unpaid = await ads(["campaigns", "update", added.campaignId, "--weight", "2"]);
    expect(unpaid.out).toMatch(/^Us is prepaid and has nothing left.* money top-up adv_/m);
    await ads(["money", "terms", added.advertiserId, "credit"]);
    await ads([...update, "--hours", "none", "--languages", "de"]);
    const explain = ["explain", "--bot-id", botId, "--user-id", "501", "--language"];
    expect((await ads([...explain, "en"])).out).toMatch(
      new RegExp(`^${added.campaignId} .* 0.0 % +is for other languages`, "m"),
    );
    expect((await ads([...explain, "de"])).out).toMatch(new RegExp(`^${added.campaignId} .*[0-9.]+ % +fits`, "m"));
    const media = join(fixture.dataDir, "ad-service/media");
    await rename(media, `${media}-elsewhere`);
    expect((await ads([...explain, "de"])).out).toMatch(
      new RegExp(`^${added.campaignId} .* fits; files of its videos are missing on this node: [0-9a-f]{64}`, "m"),
    );
    await rename(`${media}-elsewhere`, media);
    expect((await ads(["campaigns", "show", added.campaignId])).out).toMatch(
      /^viewPrice +0\.0025$[\s\S]*^currency +USD$/m,
    );
    const listed = await ads(["campaigns", "list"]);
    expect(listed.out).toMatch(/ SPENT USD +LEFT USD +DELIVERED$/m);
    expect(await ads([...update, "--view-price", "0.0000001"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/6 decimals/),
    });
  });

  test("a VAST tag becomes one creative, however often it is added, and a campaign shows it", async () => {
    const tag = "https://tags.example.net/vast?site=1&cb=[CACHEBUSTING]";
    const added = JSON.parse((await ads(["creatives", "add-tag", tag, "--yes", "--json"])).out);
    expect(added).toMatchObject({ creativeId: expect.stringMatching(/^cre_/), kind: "vast", url: tag });
    expect(JSON.parse((await ads(["creatives", "add-tag", tag, "--yes", "--json"])).out)).toEqual(added);
    expect((await ads(["creatives", "list"])).out).toMatch(new RegExp(`^${added.creativeId} +vast `, "m"));
    const fields = ["--name", "Network", "--advertiser", "Net", "--format", "rewarded", "--creative", added.creativeId];
    const campaign = JSON.parse((await ads(["campaigns", "add", ...fields, "--json"])).out);
    expect(campaign).toMatchObject({ status: "active", creatives: [{ creativeId: added.creativeId }] });
    await ads(["campaigns", "archive", campaign.campaignId]);
  });

  test.each([
    ["vast?id=1", "write it in full"],
    ["ftp://tags.example.net/vast", "must begin with https://"],
    ["https://me:secret@tags.example.net/vast", "user name or password"],
  ])("the tag %s is refused: %s", async (tag, message) => {
    expect(await ads(["creatives", "add-tag", tag])).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  test("an advertiser's key is shown once, accepts postbacks, and voids the previous one", async () => {
    const fields = ["--name", "Link", "--advertiser", "The Shop & Co", "--format", "direct_link"];
    const landing = ["--landing-url", "https://shop.example/"];
    const { campaignId } = JSON.parse((await ads(["campaigns", "add", ...fields, ...landing, "--json"])).out);
    const issue = async () => JSON.parse((await ads(["advertisers", "key", "The Shop & Co", "--json"])).out);
    const { key: first } = await issue();
    const shown = await ads(["advertisers", "key", "The Shop & Co"]);
    expect(shown.out).toContain("It is shown once.");
    const [, second = ""] = /^key +(\S+)$/m.exec(shown.out) ?? [];
    expect(second).not.toBe(first);
    const statusWith = async (key: string) => {
      const query = new URLSearchParams({ click_id: "clk_none", key });
      return (await fetch(`${fixture.address}/postback/v1/conversions?${query}`)).status;
    };
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 404]);
    expect((await ads(["conversions", "sums"])).out).toMatch(
      /refused, of all advertisers: no such click of the advertiser 1/,
    );
    expect(await ads(["conversions", "list", "--campaign-id", campaignId])).toMatchObject({ code: 0, out: "none\n" });
    expect(await ads(["conversions", "reverse", "clk_none", "--event", "purchase"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("conversions list"),
    });
    const listed = (await ads(["advertisers", "list"])).out;
    expect(listed).toMatch(/^The Shop & Co +1 +0 +yes/m);
    expect(listed).not.toContain(second);
    expect(await ads(["advertisers", "key", "Nobody"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("advertisers list"),
    });
    await ads(["campaigns", "archive", campaignId]);
  });

  test("events and deliveries are listed, and an unknown one is reported", async () => {
    const botId = newTelegramId();
    await ads(["bots", "add", "--bot-id", botId]);
    expect(await ads(["clicks", "release", "--bot-id", botId])).toMatchObject({
      code: 0,
      out: "decided  0\nskipped  0\n",
    });
    expect(await ads(["views", "refuse"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Give an id, or a filter"),
    });
    expect(await ads(["events", "list", "--bot-id", botId])).toMatchObject({ code: 0, out: "none\n" });
    expect(await ads(["deliveries", "list", "--bot-id", botId, "--json"])).toMatchObject({ code: 0, out: "[]\n" });
    expect(await ads(["deliveries", "show", "evt_0"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("evt_0"),
    });
  });

  test("a second server on the same folder or port prints one line about it and exits with 1", {
    tags: "long",
  }, async () => {
    const sameFolder = await (await fixture.startServer({ PORT: "0" })).end;
    expect(sameFolder.code).toBe(1);
    expect(sameFolder.err).toMatch(/^The ad service could not start: another process uses .*DATA_DIR\n$/);
    const otherFolder = await mkdtemp(join(tmpdir(), "intermission-cli-"));
    await copyCluster(otherFolder, { schema: "ad_service", migrations });
    const samePort = await (await fixture.startServer({ DATA_DIR: otherFolder })).end;
    // Its database may end a moment after the server.
    await rm(otherFolder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    expect(samePort.code).toBe(1);
    expect(samePort.err).toMatch(new RegExp(`^The ad service could not start: port ${fixture.port} is taken.*PORT\n$`));
  });
});
