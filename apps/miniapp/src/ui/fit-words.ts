/** What is set in one size: a word that is too long for its line shrinks together with the text around it. */
const BLOCKS = "h1, h2, p, dt, dd, button, a, .step-name, .step-time, .pill-text, .pill-close";
const STEP = 0.93;
/** Smaller text would be hard to read for the people who enlarge it: a word that needs it is broken, at full size. */
const MIN_SHARE = 0.45;

/**
 * Keeps words and amounts whole where text is large: lines break only between words, and a text with a word that is longer
 * than its line shrinks until the word fits. Also fits what appears or changes later, before it is painted, until the returned
 * function is called.
 */
export function keepWordsWhole(root: HTMLElement): () => void {
  const fitted = new WeakMap<HTMLElement, string>();
  const fit = () => {
    for (const [block, texts] of textsByBlock(root)) {
      const key = texts.map(({ data }) => data).join("\n");
      if (fitted.get(block) === key) continue;
      fitted.set(block, key);
      shrink(block, texts);
    }
  };
  const refit = () => {
    for (const [block, texts] of textsByBlock(root)) shrink(block, texts);
  };
  const observer = new MutationObserver(fit);
  observer.observe(root, { childList: true, characterData: true, subtree: true });
  addEventListener("resize", refit);
  fit();
  return () => {
    observer.disconnect();
    removeEventListener("resize", refit);
  };
}

function textsByBlock(root: HTMLElement): Map<HTMLElement, Text[]> {
  const blocks = new Map<HTMLElement, Text[]>();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const block = node.parentElement?.closest<HTMLElement>(BLOCKS);
    if (!(node instanceof Text) || !block || block.closest(".only-heard")) continue;
    blocks.set(block, [...(blocks.get(block) ?? []), node]);
  }
  return blocks;
}

function shrink(block: HTMLElement, texts: readonly Text[]): void {
  block.style.fontSize = "";
  const full = Number.parseFloat(getComputedStyle(block).fontSize);
  for (let size = full; texts.some(hasBrokenWord); size *= STEP) {
    const isTooSmall = size < full * MIN_SHARE;
    block.style.fontSize = isTooSmall ? "" : `${size}px`;
    if (isTooSmall) return;
  }
}

/** A word, or an amount with its unit, that is on several lines. Only its hyphens may end one. */
function hasBrokenWord(text: Text): boolean {
  return [...text.data.matchAll(/(?:[^\s-]|\u00a0)+/g)].some(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
  });
}
