import { actInChannel, readChannel, taskUser } from "./chat-client.js";
import { byId } from "./element.js";
import { fillWords, words } from "./words.js";

fillWords();

const link = new URLSearchParams(location.search).get("link") ?? "";
const REFRESH_MS = 1500;
const acts = [...document.querySelectorAll("[data-act]")];
byId("to-chat").search = new URLSearchParams({ user: taskUser });

async function show() {
  try {
    const { title, isMember, isUsable, task } = await readChannel(link);
    document.title = title;
    byId("title").textContent = title;
    byId("membership").textContent = isMember ? words.taskMember : isUsable ? words.taskInvited : words.taskLinkUsed;
    byId("task").textContent = task === null ? words.unreachable : words.taskStates[task];
    for (const button of acts) {
      const { act } = button.dataset;
      button.hidden = act === "join" ? isMember : act === "leave" ? !isMember : !isUsable;
    }
    byId("acts").hidden = false;
  } catch {
    byId("membership").textContent = words.taskNoLink;
  }
}

for (const button of acts)
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await actInChannel(link, button.dataset.act);
      await show();
    } catch {
      byId("membership").textContent = words.notSent;
    } finally {
      button.disabled = false;
    }
  });

/** The ad service learns of a join or a leave from the task bot, moments later. */
async function follow() {
  if (!document.hidden) await show();
  setTimeout(follow, REFRESH_MS);
}
follow();
