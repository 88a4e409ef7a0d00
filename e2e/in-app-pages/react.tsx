import type {} from "@intermission/publisher/in-app";
import { useState } from "react";
import { createRoot } from "react-dom/client";

// Outside of the component: a page has one.
const ads = Intermission.init({ botId: "7000000001" });

function WatchButton() {
  const [said, setSaid] = useState("");
  const onClick = async () => {
    const { outcome } = await ads.show();
    setSaid(outcome === "credited" || outcome === "watched" ? "Thank you!" : `No reward: ${outcome}`);
  };
  return (
    <>
      <button type="button" onClick={onClick}>
        Watch an ad
      </button>
      <p>{said}</p>
    </>
  );
}

const root = document.querySelector("#root");
if (root) createRoot(root).render(<WatchButton />);
