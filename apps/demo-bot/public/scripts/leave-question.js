import { byId } from "./element.js";

const question = byId("leave");
let answer = () => {};

/** Asks the user to confirm closing a mini-app that enabled the closing confirmation. */
export function askToLeave() {
  answer(false);
  if (!question.open) question.showModal();
  return new Promise((resolve) => {
    answer = resolve;
  });
}

byId("leave-yes").addEventListener("click", () => {
  answer(true);
  question.close();
});
byId("leave-no").addEventListener("click", () => question.close());
question.addEventListener("close", () => answer(false));
