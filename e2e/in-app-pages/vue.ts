import type {} from "@intermission/publisher/in-app";
import { createApp, h, ref } from "vue";

const ads = Intermission.init({ botId: "7000000001" });

createApp({
  setup() {
    const said = ref("");
    const onClick = async () => {
      const { outcome } = await ads.show();
      said.value = outcome === "credited" || outcome === "watched" ? "Thank you!" : `No reward: ${outcome}`;
    };
    return () => [h("button", { type: "button", onClick }, "Watch an ad"), h("p", said.value)];
  },
}).mount("#root");
