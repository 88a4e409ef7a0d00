import { FRAME_PORT } from "./messages.ts";

/** One port from the page around this frame, if its origin is registered; every other message is ignored. */
export const acceptPort = (): Promise<MessagePort> =>
  new Promise((resolve) => {
    const origins = document.querySelector<HTMLMetaElement>('meta[name="app-origins"]')?.content.split(" ") ?? [];
    const onMessage = ({ source, origin, data, ports: [first] }: MessageEvent) => {
      if (source !== window.parent || !origins.includes(origin) || data !== FRAME_PORT || !first) return;
      window.removeEventListener("message", onMessage);
      resolve(first);
    };
    window.addEventListener("message", onMessage);
  });
