import { list, subject, verb, type WireAnswer } from "@intermission/server/route-commands";

const reach = {
  role: "what the person may do",
  advertiser: { text: "whose campaigns an advertiser sees", value: "name" },
  botIds: { flag: "bot-id", value: "id", text: "a bot that a publisher sees" },
} as const;

const invited = {
  shown: ({ person, ...others }: WireAnswer<"invitePerson">) => ({ ...person, ...others }),
  note: () => "The link is shown once, and opens the invitation once. Send it to this person alone.",
};

export const peopleCommands = subject("people", "who may sign in, with which role", {
  add: verb("invitePerson", {
    ...invited,
    description: "invite a person: prints a link that works once",
    arguments: ["email"],
    options: { email: "with which the person signs in", ...reach },
    examples: [
      "ann@example.com --role owner",
      'ben@example.com --role advertiser --advertiser "Shop"',
      "eve@example.com --role publisher --bot-id 7000000001",
    ],
  }),
  list: list("listPeople", "people", {
    description: "all people",
    options: { role: "of one role only" },
    columns: {
      PERSON: "personId",
      EMAIL: "email",
      ROLE: "role",
      OF: ({ advertiser, botIds }) => advertiser ?? botIds,
      "SIGNS IN BY": "signInMethods",
      DISABLED: "isDisabled",
    },
  }),
  "sign-in-link": verb("createSignInLink", {
    description: "print a link that signs a person in, once",
    arguments: ["email"],
    options: { email: { text: "of a person who was added", example: "ann@example.com" } },
    shown: ({ link, expiresAt }) => ({ link, expiresAt }),
  }),
  invite: verb("renewInvitation", {
    ...invited,
    description: "invite a person anew: the old password, authenticator, passkeys, linked accounts and sessions end",
  }),
  role: verb("changeRole", {
    description: "change a person's role; the person's sessions end",
    options: reach,
    examples: ["per_8fJ2kLm4Qr9T --role analyst", "per_8fJ2kLm4Qr9T --role publisher --bot-id 7000000001"],
  }),
  email: verb("changeEmail", {
    description: "change a person's e-mail address; the person's sessions and an open invitation end",
    options: { email: "with which the person signs in from now on" },
    examples: ["per_8fJ2kLm4Qr9T --email ann@example.org"],
  }),
  disable: verb("disablePerson", { description: "end a person's sessions, and refuse further ones" }),
  enable: verb("enablePerson", { description: "undo disable" }),
});
