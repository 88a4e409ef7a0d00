import { settingNames as ofAdService } from "../apps/ad-service/src/config.ts";
import { settingNames as ofApi } from "../apps/api/src/config.ts";

const names = { "ad-service": ofAdService, api: ofApi };

/** The demo decides these itself: its addresses, keys and stores, and what its pages say. */
const ofDemo = {
  "ad-service": [
    "MODE",
    "HOST",
    "PORT",
    "PUBLIC_URL",
    "DIRECT_LINK_URL",
    "MINIAPP_URL",
    "MINIAPP_DIR",
    "CONSOLE_DIR",
    "ENCRYPTION_KEY",
    "OPERATOR_TOKEN",
    "DEMO_BOT_ID",
    "DEMO_TELEGRAM_PUBLIC_KEY",
    "DEMO_CHAT_ORIGIN",
    // Of another program, it would get the demo's tables.
    "DATABASE_URL",
    "REPORTS_DATABASE_URL",
  ],
  api: [
    "MODE",
    "HOST",
    "PORT",
    "AD_SERVICE_URL",
    "BOT_ID",
    "AD_API_TOKENS",
    "TELEGRAM_BOT_TOKEN",
    "BACKEND_API_KEY",
    "MINIAPP_URL",
    "DIRECT_LINK_URL",
    "REWARD_REWARDED",
    "REWARD_DIRECT_LINK",
    "REWARD_TASK",
    "DAILY_CAP",
    "DATABASE_URL",
  ],
} satisfies Record<keyof typeof names, string[]>;

/** `npm start` reads them, and gives them to both servers. */
const ofStart = ["DATA_DIR", "LOG_LEVEL"];

export interface PassedSettings {
  readonly env: Record<keyof typeof names, NodeJS.ProcessEnv>;
  /** The names of settings that are set and not passed on. */
  readonly ignored: readonly string[];
}

/** What the environment sets for the servers of the demo, also by `NAME_FILE`. A blank variable is not set. */
export function passedSettings(environment: NodeJS.ProcessEnv): PassedSettings {
  const ignored = new Set<string>();
  const passedTo = (server: keyof typeof names): NodeJS.ProcessEnv => {
    const passed: NodeJS.ProcessEnv = {};
    for (const name of names[server]) {
      for (const variable of [name, `${name}_FILE`]) {
        const value = environment[variable];
        if (!value?.trim() || ofStart.includes(name)) continue;
        if (ofDemo[server].includes(name)) ignored.add(variable);
        else passed[variable] = value;
      }
    }
    return passed;
  };
  return { env: { "ad-service": passedTo("ad-service"), api: passedTo("api") }, ignored: [...ignored].toSorted() };
}
