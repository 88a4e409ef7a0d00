/** Commands as Telegram finds them, and http(s) addresses. */
const tappable = /(https?:\/\/[^\s<>"]+)|(^|[^\w/:.])(\/[a-z]\w{0,31})\b/gi;
/** What ends a sentence does not belong to the address in it. */
const afterAddress = /[.,;:!?'»”’…]+$/;

/** The parts of a message: text, commands, and addresses that can be followed. Nothing but http and https becomes a link. */
export function partsOf(text) {
  const parts = [];
  let from = 0;
  const add = (kind, at, value) => {
    if (at > from) parts.push({ kind: "text", text: text.slice(from, at) });
    parts.push({ kind, text: value });
    from = at + value.length;
  };
  for (const { 1: address, 2: before = "", 3: command, index } of text.matchAll(tappable)) {
    if (index < from) continue;
    if (command !== undefined) add("command", index + before.length, command);
    else if (isAddress(trimmed(address))) add("link", index, trimmed(address));
  }
  if (from < text.length) parts.push({ kind: "text", text: text.slice(from) });
  return parts;
}

/** A closing bracket belongs to an address only with its opening one. */
function trimmed(address) {
  let kept = address.replace(afterAddress, "");
  while (kept.endsWith(")") && count(kept, ")") > count(kept, "(")) kept = kept.slice(0, -1).replace(afterAddress, "");
  return kept;
}

const count = (text, character) => text.split(character).length - 1;

function isAddress(text) {
  try {
    return new URL(text).hostname !== "";
  } catch {
    return false;
  }
}
