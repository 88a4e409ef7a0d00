// @module-tag long
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openOwnBot } from "../../test/fixtures/own-bot-fixture.ts";

/** None of them is a dependency of the workspace: grammY, aiogram and python-telegram-bot run in other tests. */
const packages = ["gramio@0.10.0", "puregram@2.27.0", "telegraf@4.16.3"];

/** Each answers /start with a button, and what is tapped with the id of the message that it sent before. */
const programs: Record<string, string> = {
  GramIO: `
    import { Bot } from "gramio";
    const bot = new Bot(TOKEN, { api: { baseURL: URL + "/bot" } });
    const buttons = { inline_keyboard: [[{ text: "More", callback_data: "more" }]] };
    let sent;
    bot.command("start", async (context) => { sent = await context.send("Hello " + context.from.id, { reply_markup: buttons }); });
    bot.on("callback_query", (context) => bot.api.sendMessage({ chat_id: context.from.id, text: "tapped " + (context.message.id === sent.id) }));
    await bot.start();`,
  puregram: `
    import { Telegram } from "puregram";
    const bot = Telegram.fromToken(TOKEN, { apiBaseUrl: URL + "/bot" });
    const buttons = { inline_keyboard: [[{ text: "More", callback_data: "more" }]] };
    let sent;
    bot.updates.on("message", async (context) => {
      if (context.text === "/start") sent = await context.send("Hello " + context.from.id, { reply_markup: buttons });
    });
    bot.updates.on("callback_query", (context) => bot.api.sendMessage({ chat_id: context.from.id, text: "tapped " + (context.message.id === sent.id) }));
    await bot.updates.startPolling();`,
  Telegraf: `
    import { Markup, Telegraf } from "telegraf";
    const bot = new Telegraf(TOKEN, { telegram: { apiRoot: URL } });
    let sent;
    bot.start(async (context) => {
      sent = await context.reply("Hello " + context.from.id, Markup.inlineKeyboard([Markup.button.callback("More", "more")]));
    });
    bot.action("more", async (context) => {
      await context.answerCbQuery();
      await context.reply("tapped " + (context.callbackQuery.message.message_id === sent.message_id));
    });
    await bot.launch();`,
};

let folder: string;
let child: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "intermission-bot-libraries-"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const npm = ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", ...packages];
  await promisify(execFile)("npm", npm, { cwd: folder });
}, 300_000);
afterEach(() => void child?.kill("SIGKILL"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(Object.entries(programs))(
  "a bot of %s hears and answers in the simulated chat",
  async (name, source) => {
    const fixture = await openOwnBot(() => new Date());
    try {
      const file = join(folder, `${name}.mjs`);
      writeFileSync(file, `const [URL, TOKEN] = process.argv.slice(2);${source}`);
      child = spawn(process.execPath, [file, fixture.url, fixture.botToken], {
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let errors = "";
      child.stderr?.on("data", (text) => {
        errors = `${errors}${text}`.slice(-2000);
      });
      const isHeard = async (send: () => Promise<unknown>, text: string) => {
        await expect
          .poll(
            async () => {
              // The chat answers itself until the program polls.
              if (fixture.lastMessage()?.text !== text) await send();
              return fixture.lastMessage()?.text ?? errors;
            },
            { timeout: 60_000, interval: 300, message: `what ${name} answers; ${errors}` },
          )
          .toBe(text);
      };
      let id = 0;
      await isHeard(() => fixture.say("/start", `start-${++id}`), "Hello 42");
      await isHeard(() => fixture.press("more", `press-${++id}`), "tapped true");
      expect(errors).toBe("");
    } finally {
      await fixture.close();
    }
  },
  120_000,
);
