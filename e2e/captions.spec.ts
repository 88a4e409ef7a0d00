import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { DemoSecrets } from "../scripts/demo-secrets.ts";
import { root } from "../scripts/processes.ts";
import { closeAndGet, launchUrl, openWithNewCode } from "./open-miniapp.ts";
import { initDataOf, ScriptedViewer } from "./scripted-viewer.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

const file = join(root, "e2e/fixtures/clip-2s.en.vtt");

/** Captions as other programs write them, by language. */
const texts = {
  de: "Ulli&#39;s K&auml;se, &frac12; Preis &hellip;\n<v Ann>20&deg; R&ampB <b>&copy &#128522;</b> &lt;img src=x onerror=alert(1)&gt;",
  "pt-BR": "do Brasil",
  "pt-PT": "de Portugal",
  "zh-Hans": "简体",
  "zh-Hant": "繁體",
  he: "שלום עולם!\nHello (world).\nמבצע 50%.",
};

test.beforeAll(async ({ stack }) => {
  const [{ creativeId }] = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
  const folder = mkdtempSync(join(tmpdir(), "intermission-captions-"));
  const files = Object.entries(texts).map(([language, text]) => {
    const path = join(folder, `${language}.vtt`);
    writeFileSync(path, `WEBVTT\n\n00:00.000 --> 00:02.000\n${text}\n`);
    return `${language}=${path}`;
  });
  await stack.ads(["creatives", "captions", creativeId, `en=${file}`, ...files]);
  rmSync(folder, { recursive: true });
});

/** Starts the ad as a user of this Telegram language, whose texts the app may not have. */
async function watchIn(page: Page, language: string, url: string, userId: string, secrets: DemoSecrets): Promise<void> {
  const initData = initDataOf(userId, secrets, new Date(), language);
  await page.goto(launchUrl(url, userId, secrets, { initData }));
  await page
    .getByRole("button", { name: /^(Watch|Continue watching|Assistir|Continuar assistindo|(Weiter )?[Aa]nsehen)$/ })
    .click();
}

test.beforeEach(async ({ api, page, stack, userId }) => {
  // Nodes keep the facts of an ad for a second: a test before these may have opened it without captions.
  const viewer = new ScriptedViewer(stack.urls.adService);
  const { code } = await newCode(api, `${userId}9`);
  const captionsOf = async () => {
    const { body } = await viewer.open(stack.secrets.botId, initDataOf(`${userId}9`, stack.secrets), code);
    return body.outcome === "session" ? body.ad.captions?.length : body;
  };
  await expect.poll(captionsOf).toBe(Object.keys(texts).length + 1);
  await page.addInitScript(() => {
    // Runs in the page, because on a busy machine the video could end before a call from the test arrives.
    const onPlaying = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement)) return;
      removeEventListener("playing", onPlaying, true);
      target.pause();
    };
    addEventListener("playing", onPlaying, true);
  });
});

test("captions are shown while the ad is muted, can be switched off and on, and the view is paid", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  const caption = page.getByText("Hello & welcome");
  const toggle = page.getByRole("button", { name: "Captions" });
  await expect(toggle).toHaveAttribute("aria-pressed", "true");
  await expect(caption).toBeVisible();
  await expect(caption.locator("..")).toHaveAttribute("lang", "en");
  await toggle.click();
  await expect(toggle).toHaveAttribute("aria-pressed", "false");
  await expect(caption).toHaveCount(0);
  await toggle.click();
  await expect(caption).toBeVisible();
  await expect(page.locator("video")).toHaveJSProperty("controls", false);
  await page.getByRole("button", { name: "Tap to play" }).click();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("references and markup of captions read as in a browser, and become no HTML", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  await watchIn(page, "de", miniappUrl, userId, stack.secrets);
  const caption = page.locator(".caption");
  const lines = ["Ulli's Käse, ½ Preis …", "20° R&B © 😊 <img src=x onerror=alert(1)>"];
  await expect.poll(() => caption.textContent()).toBe(lines.join("\n"));
  await expect(caption).toHaveAttribute("lang", "de");
  await expect(caption.locator("img")).toHaveCount(0);
});

test("the viewer's language chooses the captions, also one that the app has no texts in", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const chosen = [
    ["zh-hans", "zh-Hans"],
    ["zh-TW", "zh-Hant"],
    ["pt-pt", "pt-PT"],
    ["iw", "he"],
    ["sv", "en"],
  ] as const;
  for (const [index, [language, shown]] of chosen.entries()) {
    // A user each: the next language would go on where the last one stopped, on a busy machine at the end.
    const viewer = `${userId}${index}`;
    const { miniappUrl } = await newCode(api, viewer);
    await page.goto("about:blank");
    await watchIn(page, language, miniappUrl, viewer, stack.secrets);
    await expect(page.locator(".caption"), language).toHaveAttribute("lang", shown);
  }
});

test("each line of a caption has its own direction", { tag: "@long" }, async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  await watchIn(page, "he", miniappUrl, userId, stack.secrets);
  await expect(page.locator(".caption")).toHaveAttribute("lang", "he");
  const places = await page.locator(".caption span").evaluate((span) => {
    const text = span.firstChild as Text;
    const lines = text.data.split("\n");
    return lines.map((line, index) => {
      const start = lines.slice(0, index).join("\n").length + (index > 0 ? 1 : 0);
      const leftOf = (at: number) => {
        const range = document.createRange();
        range.setStart(text, start + at);
        range.setEnd(text, start + at + 1);
        return range.getBoundingClientRect().left;
      };
      // Where the last character, a mark without a direction, stands.
      return leftOf(line.length - 1) > leftOf(0) ? "right" : "left";
    });
  });
  expect(places).toEqual(["left", "right", "left"]);
});

test("an app on another origin than the videos shows captions, too; with the sound on, they can be switched on", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  const elsewhere = new URL(miniappUrl);
  elsewhere.hostname = "localhost";
  await page.goto(launchUrl(elsewhere.href, userId, stack.secrets));
  const captionRequest = page.waitForRequest((request) => request.url().endsWith(".vtt"));
  await page.getByRole("button", { name: "Watch" }).click();
  expect(new URL((await captionRequest).url()).origin).not.toBe(elsewhere.origin);
  const caption = page.getByText("Hello & welcome");
  await expect(caption).toBeVisible();

  const toggle = page.getByRole("button", { name: "Captions" });
  await expect(toggle).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Turn sound on" }).click();
  await expect(toggle).toHaveAttribute("aria-pressed", "false");
  await expect(caption).toHaveCount(0);
  await toggle.click();
  await expect(caption).toBeVisible();
});
