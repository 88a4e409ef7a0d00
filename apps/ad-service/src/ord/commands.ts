import {
  filingGapsInEnglish,
  filingKindsInEnglish,
  filingStatesInEnglish,
} from "@intermission/operator-api/ord-in-english";
import { list, subject, verb } from "@intermission/server/route-commands";

export const ordCommands = subject("ord", "filing of ads at an operator of ad data (Russia)", {
  show: verb("showOrd", { description: "at which operator of ad data ads are filed" }),
  set: verb("setOrd", {
    description: "set the operator of ad data and the key of its API",
    options: {
      // The program itself has --url.
      url: { text: "an API as VK ORD's; its sandbox is https://api-sandbox.ord.vk.com", flag: "address", value: "url" },
      key: "as its account shows it once; stored encrypted, and never shown again",
    },
    examples: ["--key 0f3c…", "--address https://api-sandbox.ord.vk.com --key 0f3c…"],
  }),
  list: list("listFilings", "filings", {
    description: "what is not filed, with the reason and the next step",
    options: {
      month: "of the statistics, such as 2026-02; without it, the last that is over",
      all: "also what is filed",
    },
    columns: {
      RECORD: ({ kind }) => filingKindsInEnglish[kind],
      OF: "name",
      STATE: ({ state }) => filingStatesInEnglish[state],
      WHY: ({ gaps, fault }) => [...gaps.map((gap) => filingGapsInEnglish[gap]), fault ?? []].flat().join("; "),
      ID: "objectId",
    },
  }),
  sync: verb("syncOrd", {
    description: "file parties, contracts, bots, creatives and the statistics of a month; creatives get their erids",
    options: {
      month: "of the statistics, such as 2026-02; without it, the last that is over",
      isDryRun: { flag: "dry-run", text: "send nothing, and show what would be sent" },
    },
    examples: ["", "--month 2026-02 --dry-run"],
    text: ({ month, filed, left, stopped, requests }) =>
      [
        ...requests.map(
          ({ method, path, body }) => `${method} ${path} ${body === null ? "(a file)" : JSON.stringify(body)}`,
        ),
        ...(stopped === null ? [] : [`It ended early: ${stopped}`]),
        `${month}: ${filed} filed${left > 0 ? `, ${left} left: ads ord list` : ""}`,
      ].join("\n"),
  }),
});
