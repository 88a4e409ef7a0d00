/**
 * `/sdk/monetag.js?bot=<id>` with `data-zone` and `data-sdk`: the function `show_<zone>()` as pages that were written for Monetag
 * call it. Its options are those of the types in `monetag-tg-sdk` 1.0.3.
 */
import { fail, init, script } from "./ads-of-page.ts";

interface MonetagOptions {
  readonly type?: "preload" | "start" | "end" | "pop" | "inApp";
  readonly ymid?: string;
  readonly requestVar?: string;
}

const ads = init({ botId: new URL(script?.src ?? "").searchParams.get("bot") ?? fail("load it with ?bot=<bot id>") });
const zone = script?.dataset.zone ?? fail("its element needs data-zone, as Monetag's has");
const name = script?.dataset.sdk ?? `show_${zone}`;

/** Resolves once the ad was watched to the end, and rejects otherwise: a page pays nothing for what was not watched. */
async function show(options: string | MonetagOptions = {}) {
  const { type, ymid, requestVar } = typeof options === "string" ? { type: options } : options;
  if (type === "preload") return ads.preload();
  // Ads by a timer, and ads that are links, reward nobody.
  if (type === "inApp" || type === "pop") fail(`${name}({ type: "${type}" }) has no ads here`);
  const { outcome, reason } = await ads.show();
  if (outcome !== "credited" && outcome !== "watched") throw new Error(reason ? `${outcome}: ${reason}` : outcome);
  return {
    event_type: "impression",
    reward_event_type: "valued",
    zone_id: Number(zone),
    ...(ymid && { ymid }),
    ...(requestVar && { request_var: requestVar }),
  };
}

// Monetag's own script, which its npm package loads all the same, must not take the name.
Object.defineProperty(window, name, { value: show, enumerable: true });
