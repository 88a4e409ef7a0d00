import type { ReactNode } from "react";
import { AboutSheet, type AboutStep } from "../about-ad/about-sheet.tsx";
import { Crashed } from "../entry/crashed.tsx";
import { OldClient } from "../entry/old-client.tsx";
import { OutsideTelegram } from "../entry/outside-telegram.tsx";
import { RefusedEntry } from "../entry/refused-entry.tsx";
import { UnreachableEntry } from "../entry/unreachable-entry.tsx";
import { OpeningEntry, WaitEntry } from "../entry/wait-entry.tsx";
import type { ShownTask } from "../tasks/task-list.tsx";
import { TaskList } from "../tasks/task-list.tsx";
import type { WaitReason } from "../watch-ad/describe-opening.ts";
import { Interrupted } from "../watch-ad/interrupted.tsx";
import { showPicture } from "../watch-ad/use-ad-session.ts";
import type { Session } from "../watch-ad/watching.ts";
import { botPicture, coinIcon, companion, idleHost, sampleQrCode, session as sampleSession } from "./sample-session.ts";
import { StageState } from "./stage-state.tsx";
import { StatusState } from "./status-state.tsx";

const coins = { amount: 10, unit: { en: { one: "coin", other: "coins" }, ar: { few: "عملات", other: "عملة" } } };
const picturedCoins = { ...coins, icon_url: coinIcon };
const place = { amount: 1, unit: { en: { whole: "a place in Secret Garden", other: "a place in Secret Garden" } } };
const longUnit = { amount: 1_000_000, unit: { en: { other: "golden points of the Coin Garden" } } };
const nothing = () => {};
const minute = 60_000;
/** Of a bot that has a picture. */
const pictured = (shown: ReactNode) => {
  showPicture({ picture_url: botPicture });
  return shown;
};
const captions = "WEBVTT\n\n00:00.000 --> 01:00.000\n– Is this the tea from the hill?\n– The very same.";
const refused = (code: string, botLink?: string) => (
  <RefusedEntry code={code} requestId="3f2a91c0-5b1e" botLink={botLink} host={idleHost} onAnother={nothing} />
);
const outside = ({ botLink, qrCodeUrl }: { botLink?: string; qrCodeUrl?: string }) => (
  <OutsideTelegram botLink={botLink} qrCodeUrl={qrCodeUrl} host={idleHost} />
);
const wait = (reason: WaitReason, waitMs: number) => (
  <WaitEntry reason={reason} untilMs={Date.now() + waitMs} host={idleHost} onReopen={nothing} />
);

const targeted: Partial<Session["ad"]> = {
  shown_because: ["bot", "language", "platform", "premium", "time"],
  marking: "Реклама. ООО «Чай на склоне». erid: 2Vtzqx9KdE4",
  legal_line: "ИНН 7700000000",
};
const about = (step: AboutStep, ad: Partial<Session["ad"]>) => (
  <>
    <StageState stage="playing" playback="held" ad={ad} />
    <AboutSheet ad={{ ...sampleSession.ad, ...ad }} sessionId="sample" token="sample" first={step} onClose={nothing} />
  </>
);

const inDays = (days: number) => new Date(Date.now() + days * 1440 * minute).toISOString();
const taskOf = (code: string, task: Partial<ShownTask["task"]>, more: Omit<ShownTask, "task"> = {}): ShownTask => ({
  task: {
    code,
    state: "offered",
    kind: "join",
    title: "Flower News",
    expires_at: inDays(1),
    hold_days: 7,
    paid_at: "joined",
    payment: "none",
    ...task,
  },
  ...more,
});
const taskList = (...tasks: ShownTask[]) => (
  <TaskList tasks={tasks} unit={coins.unit} onOpen={nothing} onCheck={nothing} onClose={nothing} />
);

/** Every screen that a user can see, built only from the app's own components. */
export const states: Readonly<Record<string, () => ReactNode>> = {
  opening: () => <OpeningEntry />,
  "opening-pictured": () => pictured(<OpeningEntry />),
  "outside-telegram": () => outside({}),
  "outside-telegram-with-link": () => outside({ botLink: "https://t.me/coin_garden_bot" }),
  "outside-telegram-computer": () => outside({ botLink: "https://t.me/coin_garden_bot", qrCodeUrl: sampleQrCode }),
  "init-data-invalid": () => refused("INIT_DATA_INVALID"),
  "init-data-without-user": () => refused("INIT_DATA_WITHOUT_USER"),
  "init-data-expired": () => refused("INIT_DATA_EXPIRED"),
  "init-data-expired-with-link": () => refused("INIT_DATA_EXPIRED", "https://t.me/coin_garden_bot"),
  "code-malformed": () => refused("CODE_MALFORMED"),
  "code-unknown": () => refused("CODE_UNKNOWN"),
  "code-expired": () => refused("CODE_EXPIRED"),
  "code-used": () => refused("CODE_USED"),
  "code-of-another-user": () => refused("CODE_OF_ANOTHER_USER"),
  "bot-unknown": () => refused("BOT_UNKNOWN"),
  "bot-suspended": () => refused("BOT_SUSPENDED"),
  "not-understood": () => refused("OF_THE_FUTURE"),
  "no-ad": () => wait("no-ad", 5 * minute),
  cooldown: () => wait("cooldown", 2 * minute),
  "daily-cap": () => wait("daily-cap", 605 * minute),
  unreachable: () => <UnreachableEntry onRetry={nothing} />,
  "old-client": () => <OldClient host={idleHost} />,
  crashed: () => <Crashed place="index-Dw1at4Mz-12-4021" onRetry={nothing} />,

  offer: () => <StageState stage="offer" playback="idle" />,
  "offer-begun": () => <StageState stage="offer" playback="idle" session={{ accepted_ms: 9000, resume_at_ms: 9000 }} />,
  "offer-with-sound": () => <StageState stage="offer" playback="idle" isMuted={false} />,
  "offer-portrait-video": () => <StageState stage="offer" playback="idle" isPortrait />,
  "offer-named": () => <StageState stage="offer" playback="idle" session={{ rewards: { rewarded: coins } }} />,
  "offer-pictured": () =>
    pictured(<StageState stage="offer" playback="idle" session={{ rewards: { rewarded: picturedCoins } }} />),
  "offer-place": () => <StageState stage="offer" playback="idle" session={{ rewards: { rewarded: place } }} />,
  "offer-named-long": () => (
    <StageState stage="offer" playback="idle" isPortrait session={{ rewards: { rewarded: longUnit } }} />
  ),
  "offer-long-names": () => (
    <StageState
      stage="offer"
      playback="idle"
      ad={{ advertiser: "Donaudampfschifffahrtsgesellschaft & Söhne Reisevermittlung GmbH" }}
      bot={{ name: "The Extraordinarily Generous Coin Garden of Northern Wonders Bot" }}
    />
  ),
  playing: () => <StageState stage="playing" playback="playing" />,
  "playing-named": () => <StageState stage="playing" playback="playing" session={{ rewards: { rewarded: coins } }} />,
  "playing-named-long": () => (
    <StageState stage="playing" playback="playing" isPortrait session={{ rewards: { rewarded: longUnit } }} />
  ),
  "playing-with-sound": () => <StageState stage="playing" playback="playing" isMuted={false} />,
  "playing-captions": () => (
    <StageState
      stage="playing"
      playback="playing"
      ad={{ captions: [{ language: "en", url: `data:text/vtt,${encodeURIComponent(captions)}` }] }}
    />
  ),
  "playing-long-names": () => (
    <StageState
      stage="playing"
      playback="playing"
      ad={{
        advertiser: "Donaudampfschifffahrtsgesellschaft & Söhne Reisevermittlung GmbH",
        call_to_action: { label: "Jetzt Reiserücktrittsversicherung abschließen", url: "https://example.com/" },
      }}
    />
  ),
  "playing-portrait-video": () => <StageState stage="playing" playback="playing" isPortrait />,
  "playing-portrait-captions": () => (
    <StageState
      stage="playing"
      playback="playing"
      isPortrait
      ad={{ captions: [{ language: "en", url: `data:text/vtt,${encodeURIComponent(captions)}` }] }}
    />
  ),
  "playing-offline": () => <StageState stage="playing" playback="playing" isConnected={false} />,
  buffering: () => <StageState stage="playing" playback="buffering" />,
  blocked: () => <StageState stage="playing" playback="blocked" />,
  paused: () => <StageState stage="playing" playback="held" hold="paused" />,
  away: () => <StageState stage="playing" playback="held" hold="away" />,
  outside: () => <StageState stage="playing" playback="held" hold="outside" />,
  stalled: () => <StageState stage="playing" playback="stalled" />,
  "leave-question": () => <StageState stage="playing" playback="held" hold="dialog" />,
  "leave-question-named": () => (
    <StageState stage="playing" playback="held" hold="dialog" session={{ rewards: { rewarded: coins } }} />
  ),
  "about-everyone": () => about("about", {}),
  "about-targeted": () => about("about", targeted),
  "about-network": () => about("about", { title: "Tea for two, spring offer", shown_because: ["network"] }),
  "about-reasons": () => about("reasons", {}),
  "about-sending": () => about("sending", {}),
  "about-thanks": () => about("thanks", {}),
  "about-failed": () => about("failed", {}),
  confirming: () => <StageState stage="confirming" playback="ended" />,
  watched: () => <StageState stage="watched" playback="ended" />,
  "watched-named": () => <StageState stage="watched" playback="ended" session={{ rewards: { rewarded: coins } }} />,
  "watched-named-long": () => (
    <StageState stage="watched" playback="ended" isPortrait session={{ rewards: { rewarded: longUnit } }} />
  ),
  "watched-not-payable": () => <StageState stage="watched" playback="ended" isPayable={false} />,
  "watched-offline": () => <StageState stage="watched" playback="ended" isConnected={false} />,
  "watched-portrait-video": () => <StageState stage="watched" playback="ended" isPortrait />,
  "watched-without-link": () => <StageState stage="watched" playback="ended" ad={{ call_to_action: undefined }} />,
  "watched-companion": () => (
    <StageState stage="watched" playback="ended" isPortrait ad={{ end_card: companion(600, 500) }} />
  ),
  "watched-companion-portrait": () => (
    <StageState stage="watched" playback="ended" ad={{ end_card: companion(640, 960) }} />
  ),
  "watched-companion-long-names": () => (
    <StageState
      stage="watched"
      playback="ended"
      ad={{
        advertiser: "Donaudampfschifffahrtsgesellschaft & Söhne Reisevermittlung GmbH",
        end_card: {
          ...companion(720, 1280),
          call_to_action: { label: "Jetzt Reiserücktrittsversicherung abschließen", url: "https://example.com/" },
        },
      }}
    />
  ),
  "watched-long-names": () => (
    <StageState
      stage="watched"
      playback="ended"
      ad={{
        advertiser: "Donaudampfschifffahrtsgesellschaft & Söhne Reisevermittlung GmbH",
        call_to_action: { label: "Jetzt Reiserücktrittsversicherung abschließen", url: "https://example.com/" },
      }}
    />
  ),

  left: () => <Interrupted stage="left" onClose={nothing} onReopen={nothing} onAnother={nothing} />,
  incomplete: () => <Interrupted stage="incomplete" onClose={nothing} onReopen={nothing} onAnother={nothing} />,
  broken: () => <Interrupted stage="broken" onClose={nothing} onReopen={nothing} onAnother={nothing} />,
  superseded: () => <Interrupted stage="superseded" onClose={nothing} onReopen={nothing} onAnother={nothing} />,
  "session-over": () => <Interrupted stage="over" onClose={nothing} onReopen={nothing} onAnother={nothing} />,

  "status-checking": () => <StatusState service="watched" />,
  "status-on-its-way": () => <StatusState service="on-its-way" />,
  "status-on-its-way-closing": () => <StatusState service="on-its-way" promised={coins} isClosable />,
  "status-on-its-way-named": () => <StatusState service="on-its-way" promised={coins} />,
  "status-recording": () => <StatusState service="delivered" />,
  "status-delayed": () => <StatusState service="delayed" />,
  "status-credited": () => <StatusState service="delivered" publisher="credited" nextAdMs={0} />,
  "status-credited-named": () => <StatusState service="delivered" publisher="credited" nextAdMs={0} promised={coins} />,
  "status-credited-pictured": () =>
    pictured(<StatusState service="delivered" publisher="credited" nextAdMs={0} promised={picturedCoins} />),
  "status-credited-closing": () => <StatusState service="delivered" publisher="credited" promised={coins} isClosable />,
  "status-credited-next-ad-later": () => <StatusState service="delivered" publisher="credited" nextAdMs={14_000} />,
  "status-credited-next-ad-tomorrow": () => (
    <StatusState service="delivered" publisher="credited" nextAdMs={605 * minute} />
  ),
  "status-credited-no-ad": () => <StatusState service="delivered" publisher="credited" />,
  "status-credited-yesterday": () => <StatusState service="delivered" publisher="credited" nextAdMs={0} isOld />,
  "status-delivered": () => <StatusState service="delivered" hasPublisher={false} />,
  "status-delivered-place": () => <StatusState service="delivered" hasPublisher={false} promised={place} />,
  "status-refused-daily-cap": () => <StatusState service="delivered" publisher="daily-cap" />,
  "status-refused-already-paid": () => <StatusState service="delivered" publisher="code-already-paid" />,
  "status-refused-already-recorded": () => <StatusState service="delivered" publisher="event-already-recorded" />,
  "status-refused-another-user": () => <StatusState service="delivered" publisher="code-of-another-user" />,
  "status-refused-no-reward": () => <StatusState service="delivered" publisher="no-reward" />,
  "status-refused-test": () => <StatusState service="delivered" publisher="test" />,
  "status-undelivered": () => <StatusState service="failed" />,
  "status-held": () => <StatusState service="watched" review="held" />,
  "status-view-refused": () => <StatusState service="watched" review="refused" />,
  "status-not-counted": () => <StatusState service="playing" waitedMs={60_000} />,
  "tasks-none": () => taskList(),
  "tasks-open": () =>
    taskList(
      taskOf("1", {}),
      taskOf("2", { kind: "start", title: "@hillside_tea_bot", hold_days: 0 }),
      taskOf("3", { paid_at: "kept", hold_days: 1, title: "Tea & Mountains" }),
    ),
  "tasks-opened": () =>
    taskList(
      taskOf("1", { state: "opened" }, { note: "notYet" }),
      taskOf("2", { state: "opened", kind: "start", title: "@hillside_tea_bot", hold_days: 0 }),
      taskOf("3", { state: "opened", title: "Tea & Mountains" }, { isBusy: true }),
      taskOf("4", { state: "opened", is_confirming: true, title: "Garden Club" }),
    ),
  "tasks-joined": () =>
    taskList(
      taskOf("1", { state: "held", payment: "paid", held_until: inDays(7) }, { credited: 5 }),
      taskOf("2", { state: "held", paid_at: "kept", held_until: inDays(3), title: "Tea & Mountains" }),
      taskOf("3", { state: "kept", payment: "paid", title: "Garden Club" }, { credited: 1 }),
    ),
  "tasks-lost": () =>
    taskList(
      taskOf("1", { state: "left", payment: "reversed" }),
      taskOf("2", { state: "left", title: "Tea & Mountains" }),
      taskOf("3", { state: "void", title: "Garden Club" }),
      taskOf("4", { title: "Sold Out" }, { note: "over" }),
      taskOf("5", { title: "Busy Street" }, { note: "busy" }),
    ),
  "tasks-long-names": () =>
    taskList(taskOf("1", { title: "Donaudampfschifffahrtsgesellschaftsnachrichten und Reisevermittlung" })),
  "status-offline": () => <StatusState service="on-its-way" isOffline />,
};
