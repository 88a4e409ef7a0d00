import { expect, test } from "./stack.ts";

test.use({ isMobile: false });

/** The last one is a phone in landscape. */
const viewports = [
  { width: 320, height: 568 },
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1280, height: 720 },
  { width: 740, height: 360 },
];
const all = { languages: ["en", "ar"], textSizes: ["100%", "150%"] };

/** Large text from right to left, and text of the usual size, under which nothing may be before the page is scrolled. */
const quick = [
  { languages: ["ar"], textSizes: ["150%"] },
  { languages: ["en"], textSizes: ["100%"] },
];

declare global {
  interface Window {
    /** For the test's own check: an element to put over each screen. */
    plantedCover?: HTMLElement;
  }
}

for (const { viewport, parts, tag } of [
  { viewport: { width: 320, height: 568 }, parts: quick, tag: [] },
  ...viewports.map((viewport) => ({ viewport, parts: [all], tag: "@long" })),
]) {
  const at = `${viewport.width} × ${viewport.height}`;
  const what = parts === quick ? "large text from right to left and usual text" : "both text sizes and directions";
  test(`no text is covered or cut off, at ${at}, in ${what}`, { tag }, async ({ page, gallery }) => {
    await page.setViewportSize(viewport);
    const states = await gallery.open(page);
    const found: string[] = [];
    for (const { languages, textSizes } of parts) {
      for (const language of languages)
        found.push(...(await page.evaluate(coveredTexts, { states, language, textSizes })));
    }
    expect(found).toEqual([]);
  });
}

test("the check of this file finds a covered text, a text over another one, and a text outside the window", {
  tag: "@long",
}, async ({ page, gallery }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await gallery.open(page);
  const findWith = async (style: string, text: string) => {
    await page.evaluate(
      ([style, text]) => {
        const cover = document.createElement("p");
        cover.style.cssText = `position:fixed;margin:0;${style}`;
        cover.textContent = text ?? "";
        window.plantedCover = cover;
      },
      [style, text],
    );
    const shown = { states: ["no-ad"], language: "en", textSizes: ["100%"] };
    return (await page.evaluate(coveredTexts, shown)).join("\n");
  };
  expect(await findWith("inset:0 0 50% 0;background:#fff", "")).toContain("“No ad right now” is under p.");
  expect(await findWith("inset-block-end:30px;inset-inline:0;text-align:center", "Over the button")).toContain(
    "“Close” overlaps “Over the button”",
  );
  expect(await findWith("inset-block-start:-40px;inset-inline:0", "Outside")).toContain("“Outside” cannot be");
});

/**
 * Runs in the page. A text is covered if anything is painted over it once it is scrolled to the middle of the window, or
 * before the page is scrolled: then only large text, low windows and very long names may have text under the foot. It is cut off if a part of it cannot be scrolled
 * into the window.
 */
async function coveredTexts({
  states,
  language,
  textSizes,
}: {
  states: string[];
  language: string;
  textSizes: string[];
}): Promise<string[]> {
  const faults = new Set<string>();
  const root = document.documentElement;
  // Hit tests skip elements without pointer events; these are painted all the same.
  const style = document.createElement("style");
  style.textContent = "* { pointer-events: auto !important }";
  document.head.append(style);

  const paints = (element: Element) => {
    if (["IMG", "VIDEO", "CANVAS", "svg", "path"].includes(element.tagName)) return true;
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
    const isClear = backgroundColor === "transparent" || /, 0\)$/.test(backgroundColor);
    return Number(opacity) > 0 && (!isClear || backgroundImage !== "none");
  };

  const textsOf = (within: Element) => {
    const texts: { node: Node; parent: Element }[] = [];
    const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!parent || !node.textContent?.trim() || parent.closest("script, style, noscript, .only-heard")) continue;
      texts.push({ node, parent });
    }
    return texts;
  };

  const boxesOf = (node: Node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    // A long name ends with an ellipsis: only its box is painted.
    const frame = node.parentElement?.closest(".chip-name")?.getBoundingClientRect();
    return [...range.getClientRects()]
      .filter(({ width, height }) => width > 0 && height > 0)
      .map((box) => frame ?? box);
  };

  const coverAt = (parent: Element, { left, top, width, height }: DOMRect) => {
    for (const across of [0.02, 0.5, 0.98]) {
      for (const down of [0.2, 0.5, 0.8]) {
        const stack = document.elementsFromPoint(left + width * across, top + height * down);
        const own = stack.findIndex((element) => element === parent || element.contains(parent));
        const above = stack.slice(0, own < 0 ? undefined : own).filter((element) => !parent.contains(element));
        const cover = above.find(paints);
        if (cover || (own < 0 && stack.length > 0)) return cover ?? stack[0];
      }
    }
    return undefined;
  };

  const faultOf = (parent: Element, box: DOMRect): string | undefined => {
    if (box.left < -1 || box.right > innerWidth + 1) return "is outside the window";
    if (box.top < -1 || box.bottom > innerHeight + 1) return "cannot be scrolled into the window";
    const cover = coverAt(parent, box);
    return cover && `is under ${cover.tagName.toLowerCase()}.${cover.getAttribute("class") ?? ""}`;
  };

  const isInFoot = (element: Element) => {
    const foot = element.closest(".foot");
    return foot !== null && element.getBoundingClientRect().top >= foot.getBoundingClientRect().top;
  };

  const overlap = (one: DOMRect, other: DOMRect) => {
    const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    return width > 2 && height > 0.4 * Math.min(one.height, other.height);
  };

  for (const state of states) {
    root.style.fontSize = "";
    await window.showState({ state, theme: "light", language });
    if (window.plantedCover) document.querySelector("main")?.append(window.plantedCover);
    // Everything behind a modal dialog is covered on purpose.
    const within = document.querySelector("dialog[open]") ?? document.body;
    for (const textSize of textSizes) {
      root.style.fontSize = textSize;
      const texts = textsOf(within);
      const note = (node: Node, fault: string) =>
        faults.add(`${state} ${language} ${textSize}: “${node.textContent?.trim().slice(0, 30)}” ${fault}`);
      const isPageScrollable = root.scrollHeight > innerHeight;
      const isScrollable = isPageScrollable || within.scrollHeight > within.clientHeight;
      scrollTo({ top: 0, behavior: "instant" });
      for (const { node, parent } of isPageScrollable ? texts : []) {
        const covers = boxesOf(node).map((box) => coverAt(parent, box));
        const isRoomy = textSize === "100%" && innerHeight > 500 && !state.endsWith("-long-names");
        if (covers.some((cover) => cover && (isRoomy || !isInFoot(cover)))) note(node, "is covered before scrolling");
      }
      for (const { node, parent } of texts) {
        if (isScrollable) parent.scrollIntoView({ block: "center", behavior: "instant" });
        for (const box of boxesOf(node)) {
          const fault = faultOf(parent, box);
          if (fault) note(node, fault);
        }
      }
      const boxes = texts.flatMap(({ node }) => boxesOf(node).map((box) => ({ node, box })));
      for (const [index, { node, box }] of boxes.entries()) {
        const other = boxes.slice(index + 1).find((each) => each.node !== node && overlap(each.box, box));
        if (other) note(node, `overlaps “${other.node.textContent?.trim().slice(0, 30)}”`);
      }
    }
  }
  root.style.fontSize = "";
  style.remove();
  return [...faults];
}
