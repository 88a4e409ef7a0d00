import { list, subject, verb } from "@intermission/server/route-commands";

/** The terms of a new advertiser. */
export const termsWords = {
  billing: "of a new advertiser: prepaid, which is the default, or on credit",
  creditLimitMicros: "of a new advertiser on credit; without it there is none",
} as const;

export const advertiserCommands = subject("advertisers", "advertisers, and the keys of their postbacks", {
  list: list("listAdvertisers", "advertisers", {
    description: "all advertisers",
    options: { name: "a part of the name, in any case", state: "in one state only" },
    columns: {
      ADVERTISER: "name",
      CAMPAIGNS: "campaigns",
      CONVERSIONS: "conversions",
      KEY: "hasPostbackKey",
      ADDED: "createdAt",
      STATE: "state",
      ID: "advertiserId",
    },
  }),
  key: verb("issuePostbackKey", {
    description: "make a new key for postbacks; the previous one is void immediately",
    note: () => "It is shown once. Conversions go to /postback/v1/conversions?click_id={click_id}&key=…",
  }),
  rename: verb("updateAdvertiser", {
    description: "change the name; campaigns, the key and the bots that block it stay",
    arguments: ["advertiser", "name"],
    options: { name: { flag: "new-name", text: "shown to viewers from now on", example: "'The New Shop'" } },
    without: ["expected"],
  }),
  add: verb("addAdvertiser", {
    description: "add an advertiser before its first campaign",
    arguments: ["name"],
    options: { name: "shown to viewers", ...termsWords },
    examples: ["'The Shop'", "'The Shop' --billing credit --credit-limit 500"],
  }),
  archive: verb("archiveAdvertiser", { description: "stop all its campaigns; its statistics and money stay" }),
  restore: verb("restoreAdvertiser", { description: "undo archive: its active campaigns run again" }),
});
