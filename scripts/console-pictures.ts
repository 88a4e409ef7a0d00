import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import type { DemoStack } from "./demo-stack.ts";

const DAY_MS = 86_400_000;
const DAYS = 14;
const quality = 0.85;

/** Takes the two pictures of docs/console.md: a report, and the campaigns, with the two weeks of sample traffic. */
export async function takeConsolePictures(browser: Browser, stack: DemoStack, images: string): Promise<void> {
  await stack.ads(["sample", "add"]);
  const to = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  const from = new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10);
  const report = `reports?from=${from}&to=${to}&zone=UTC&time=day&by=campaign&figure=clicks`;
  await takePicture(browser, stack, { scheme: "light", path: report, file: join(images, "console-light.webp") });
  await takePicture(browser, stack, { scheme: "dark", path: "campaigns", file: join(images, "console-dark.webp") });
}

interface Picture {
  scheme: "light" | "dark";
  path: string;
  file: string;
}

async function takePicture(browser: Browser, stack: DemoStack, { scheme, path, file }: Picture): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 720 },
    colorScheme: scheme,
    locale: "en-US",
    timezoneId: "UTC",
  });
  await page.goto(await stack.signInLink());
  await page.locator("#content h1").waitFor();
  await page.goto(new URL(`/console/${path}`, page.url()).href);
  await page.getByText("Sample: Castle Rush link").filter({ visible: true }).first().waitFor();
  await page.waitForLoadState("networkidle");
  const picture = await page.screenshot({ animations: "disabled" });
  await page.close();
  writeFileSync(file, await asWebp(await browser.newPage(), picture));
}

/** A third of the PNG. */
async function asWebp(page: Page, picture: Buffer): Promise<Buffer> {
  const address = await page.evaluate(
    async ([source, quality]) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", quality);
    },
    [`data:image/png;base64,${picture.toString("base64")}`, quality] as const,
  );
  await page.close();
  return Buffer.from(address.replace("data:image/webp;base64,", ""), "base64");
}
