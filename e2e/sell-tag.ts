import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Answer,
  inline,
  openSampleAdServer,
  type Sample,
  wrapper,
} from "../apps/ad-service/test/fixtures/sample-ad-server.ts";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { root } from "../scripts/processes.ts";
import { test as base, expect } from "./stack.ts";

export type AdServer = Awaited<ReturnType<typeof openSampleAdServer>>;

/** Answers with a file of `e2e/fixtures`. */
export async function sendsVideo(name: string): Promise<Answer> {
  const video = await readFile(join(root, "e2e/fixtures", name));
  return (_request, response) =>
    response.writeHead(200, { "content-type": "video/mp4", "content-length": video.byteLength }).end(video);
}

/** The advertiser's page, below `{self}/shop`. Its server is real: not every browser lets a test answer for a new window. */
const shop: Answer = (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("The shop");

export const missing: Answer = (_request, response) => response.writeHead(404).end();

/** Adds a campaign for a tag whose wrapper leads to the ad server's video; it has top priority until the test is over. */
export const test = base.extend<{ sell: (media: Answer, sample?: Sample, companion?: Answer) => Promise<AdServer> }>({
  sell: async ({ stack }, use) => {
    const undo: (() => unknown)[] = [];
    await use(async (media, sample, companion = missing) => {
      const document = inline({ duration: "00:00:02", ...sample }).replaceAll("https://shop.example", "{self}/shop");
      const ad = { "/inline": document, "/ad.mp4": media, "/shop/sale": shop, "/shop/picture": shop };
      const tag = wrapper("{self}/inline");
      const ads = await openSampleAdServer({ "/tag": tag, ...ad, "/companion.png": companion });
      undo.push(ads.close);
      const campaignId = await sellTag(stack, `${ads.address}/tag`);
      undo.push(() => stack.ads(["campaigns", "archive", campaignId]));
      // The page's policy knows a new tag two seconds later at most; before, the browser would refuse the video.
      const page = `${stack.urls.adService}/app/${stack.secrets.botId}`;
      const policy = async () => (await fetch(page)).headers.get("content-security-policy");
      await expect.poll(policy).toMatch(/media-src [^;]*http:(;| |$)/);
      return ads;
    });
    for (const step of undo.toReversed()) await step();
  },
});

async function sellTag(stack: DemoStack, url: string): Promise<string> {
  const { creativeId } = JSON.parse(await stack.ads(["creatives", "add-tag", url, "--json"]));
  const fields = ["--name", "Tag", "--advertiser", "Network", "--priority", "sponsorship", "--format", "rewarded"];
  const { campaignId } = JSON.parse(
    await stack.ads(["campaigns", "add", ...fields, "--creative", creativeId, "--json"]),
  );
  return campaignId;
}
