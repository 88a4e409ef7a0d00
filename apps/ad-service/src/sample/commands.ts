import { recordOf } from "@intermission/server/command-tables";
import { subject, verb, type WireAnswer } from "@intermission/server/route-commands";

const NONE = "There is no sample traffic.";

export const sampleCommands = subject("sample", "two weeks of sample traffic, for trying the console", {
  add: verb("addSample", {
    description: "add it, or finish adding it",
    text: ({ sample }) => `${describe(sample)}\n\nOne command removes all of it: ads sample remove`,
  }),
  show: verb("showSample", {
    description: "which sample traffic there is",
    text: ({ sample }) => (sample === null ? NONE : describe(sample)),
  }),
  remove: verb("removeSample", {
    description: "remove it with its bots, advertisers, campaigns, statistics and money",
    text: ({ removed }) => (removed ? "The sample traffic is removed; nothing of it is left." : NONE),
  }),
});

function describe({ state, startsAt, endsAt, bots, advertisers }: WireAnswer<"addSample">["sample"]): string {
  const namesOf = (of: readonly { name: string }[]) => of.map(({ name }) => name);
  return recordOf({ state, from: startsAt, until: endsAt, bots: namesOf(bots), advertisers: namesOf(advertisers) });
}
