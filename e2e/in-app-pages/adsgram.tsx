import { useAdsgram } from "@adsgram/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

function WatchButton() {
  const [said, setSaid] = useState("");
  const { show } = useAdsgram({ blockId: "123", onReward, onError });
  const onClick = () =>
    show().then(
      ({ done }) => setSaid(done ? "Thank you!" : ""),
      ({ description }) => setSaid(`No reward: ${description}`),
    );
  return (
    <>
      <button type="button" onClick={onClick}>
        Watch an ad
      </button>
      <p>{said}</p>
    </>
  );
}

function onReward() {
  document.title = "onReward";
}

function onError() {
  document.title = "onError";
}

const root = document.querySelector("#root");
if (root) createRoot(root).render(<WatchButton />);
