/** The page of a user's tasks: in Telegram's window, or in a frame of the publisher's own mini-app (`/embed/{bot}/tasks`). */
import "../old-browsers.ts";
import { createRoot } from "react-dom/client";
import { Crashed } from "../entry/crashed.tsx";
import { OutsideOfBot } from "../entry/outside-telegram.tsx";
import { RefusedEntry } from "../entry/refused-entry.tsx";
import { acceptPort } from "../in-app/frame-port.ts";
import { FRAME_READY, type FromFrame, type ShownLaunch, type TasksResult, type ToFrame } from "../in-app/messages.ts";
import { portBridge } from "../in-app/port-bridge.ts";
import { loadTranslator } from "../locales/load-translator.ts";
import { TranslatorProvider } from "../locales/use-translator.tsx";
import { createHost, type Host } from "../telegram/host.ts";
import { lateBridge } from "../telegram/late-bridge.ts";
import { readLaunch } from "../telegram/launch.ts";
import { paintTheme } from "../telegram/paint-theme.ts";
import { readLanguageCode } from "../telegram/read-language-code.ts";
import { ErrorBoundary, faultPlace } from "../ui/error-boundary.tsx";
import { createTaskCalls } from "./task-calls.ts";
import { TaskScreen } from "./task-screen.tsx";
import "../ui/styles.css";
import "./tasks.css";

/** The first version of Telegram's clients that has mini-apps. */
const OLDEST_VERSION = "6.0";

type News = Parameters<typeof TaskScreen>[0]["onNews"];

interface Opened {
  readonly initData: string | undefined;
  readonly appGrant?: string;
  readonly theme: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  readonly host: Host;
  readonly onNews: (news: Parameters<News>[0]) => void;
}

const [, where, botId = ""] = /^(\/embed|.*)\/([1-9]\d{0,19})\/tasks\/*$/.exec(location.pathname) ?? [];

function openInTelegram(): Opened {
  const { search, hash } = location;
  const { initData, theme, version } = readLaunch({ pathname: `/${botId}`, search, hash });
  const bridge = lateBridge(async () =>
    (await import("../telegram/sdk-bridge.ts")).createBridge(version ?? OLDEST_VERSION),
  );
  const host = createHost(bridge);
  bridge.load();
  return { initData, theme, version, host, onNews: () => {} };
}

/** Its page passes the launch on, through the only port that it gets. */
async function openInFrame(): Promise<Opened> {
  const waiting = acceptPort();
  // The message has no content, so its target may be any origin. This page's policy limits which origins may frame it.
  window.parent.postMessage(FRAME_READY, "*");
  const port = await waiting;
  const launch = await new Promise<ShownLaunch>((resolve) => {
    port.addEventListener("message", ({ data }: MessageEvent<ToFrame>) => data?.kind === "show" && resolve(data));
    port.start();
  });
  const tell = (message: FromFrame) => port.postMessage(message);
  const { client, initData, appGrant, theme, version } = launch;
  const bridge = portBridge(port, client);
  const close = () => tell({ kind: "done" });
  const host: Host = {
    ...createHost(bridge),
    close,
    openLink: (url) => client === "native" && bridge.postNow("web_app_open_link", { url }),
  };
  host.onBack(close);
  const onNews: Opened["onNews"] = (news) => tell({ kind: "result", result: resultOf(news) });
  return { initData, appGrant, theme, version, host, onNews };
}

function resultOf(news: Parameters<News>[0]): TasksResult {
  if ("refused" in news) return { outcome: "refused", reason: news.refused };
  return "shown" in news ? { outcome: "closed" } : { outcome: "unavailable", reason: "unreachable" };
}

async function main(): Promise<void> {
  const opened = where === "/embed" ? await openInFrame() : openInTelegram();
  paintTheme(opened.theme);
  opened.host.ready();
  const translator = await loadTranslator(readLanguageCode(opened.initData));
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  createRoot(root, { onCaughtError: (fault) => console.error("crashed at", faultPlace(fault)) }).render(
    <TranslatorProvider value={translator}>
      <ErrorBoundary fallback={({ place, retry }) => <Crashed place={place} onRetry={retry} />}>
        {() => <Entry {...opened} />}
      </ErrorBoundary>
    </TranslatorProvider>,
  );
  // Without it, the list works all the same.
  import("../ui/assist-reading.ts").then(({ assistReading }) => assistReading(root)).catch(() => {});
}

let calls: ReturnType<typeof createTaskCalls> | undefined;

function Entry({ initData, appGrant, version, host, onNews }: Opened) {
  // Telegram opened the page, and signs no data for a button of a reply keyboard.
  if (!initData && version) return <RefusedEntry code="INIT_DATA_WITHOUT_USER" host={host} onAnother={host.close} />;
  if (!botId || !initData) return <OutsideOfBot host={host} />;
  calls ??= createTaskCalls({ bot_id: botId, ...(appGrant ? { app_grant: appGrant } : { init_data: initData }) });
  return <TaskScreen calls={calls} initData={initData} host={host} onNews={onNews} />;
}

main();
