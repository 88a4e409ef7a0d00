import { expect, test } from "./stack.ts";

test.use({ isMobile: false });

const viewports = [
  { width: 320, height: 568 },
  { width: 390, height: 844 },
  { width: 740, height: 360 },
  { width: 768, height: 1024 },
  { width: 1280, height: 740 },
];

for (const viewport of viewports) {
  const tag = [320, 1280].includes(viewport.width) ? [] : "@long";
  const at = `at ${viewport.width} × ${viewport.height}`;
  test(`${at} only the call to action is over the picture's lower third`, { tag }, async ({ gallery, page }) => {
    await page.setViewportSize(viewport);
    const states = (await gallery.open(page)).filter((state) => /^(playing|buffering|confirming)/.test(state));
    expect(states.length).toBeGreaterThan(5);
    expect(await page.evaluate(faultsOfLayout, { states, isCard: viewport.width >= 768 })).toEqual([]);
  });
}

/** Runs in the page. */
async function faultsOfLayout({ states, isCard }: { states: string[]; isCard: boolean }): Promise<string[]> {
  const faults: string[] = [];
  for (const state of states) {
    await window.showState({ state, theme: "light", language: "en" });
    const boxOf = (selector: string) => document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
    const slot = boxOf(".video-slot");
    const ratio = Number(document.querySelector<HTMLElement>(".watch")?.style.getPropertyValue("--ratio"));
    const shown = Math.min(slot.height, slot.width / ratio);
    const bottom = slot.top + (slot.height + shown) / 2;
    const thirdFrom = bottom - shown / 3;
    for (const element of document.querySelectorAll(".controls .pill, .controls .tools > *, .caption span")) {
      const box = element.getBoundingClientRect();
      if (box.bottom > thirdFrom + 1 && box.top < bottom - 1) {
        // Captions of a wide clip in a portrait window stand at its foot: docs/decisions/mini-app.md.
        const isCaption = element.closest(".caption") !== null;
        const isWide = ratio > 1 && innerHeight > innerWidth && innerWidth < 768;
        if (!(isCaption && isWide)) faults.push(`${state}: ${element.className || element.tagName}`);
      }
    }
    const foot = boxOf(".stage-foot");
    const isPortraitWindow = innerHeight > innerWidth || isCard;
    if (ratio > 1 && isPortraitWindow && foot.top < bottom - 1) faults.push(`${state}: the foot is over a wide clip`);
    const card = boxOf(".card");
    if (isCard && Math.abs(card.left - (innerWidth - card.right)) > 1) faults.push(`${state}: the card is not centred`);
    if (isCard && card.width > innerWidth - 47) faults.push(`${state}: no card`);
  }
  return faults;
}
