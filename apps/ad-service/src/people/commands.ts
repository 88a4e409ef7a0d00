import { operatorRequest } from "@intermission/operator-api/operator-request";
import { roles } from "@intermission/operator-api/people";
import { withExamples } from "@intermission/server/command-line";
import { collect, telegramIdOption } from "@intermission/server/command-options";
import { type Row, recordOf, row, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";

export function peopleCommands(program: Command, context: CommandContext): void {
  const people = program.command("people").description("who may sign in, with which role");
  const showInvited = (invited: Row) =>
    context.print(invited, () => {
      const { person, ...others } = invited;
      const words = "The link is shown once, and opens the invitation once. Send it to this person alone.";
      return `${recordOf({ ...row.parse(person), ...others })}\n\n${words}`;
    });

  withExamples(people.command("add").description("invite a person: prints a link that works once"), [
    "people add ann@example.com --role owner",
    'people add ben@example.com --role advertiser --advertiser "Shop"',
    "people add eve@example.com --role publisher --bot-id 7000000001",
  ])
    .argument("<email>", "with which the person signs in")
    .addOption(new Option("--role <role>", "what the person may do").choices(roles).makeOptionMandatory())
    .option("--advertiser <name>", "whose campaigns an advertiser sees")
    .option("--bot-id <id>", "a bot that a publisher sees; repeatable", collect(telegramIdOption))
    .action(async (email: string, { role, advertiser, botId: botIds }: AddOptions) => {
      const body = { email, role, advertiser, botIds };
      showInvited(await callForRow(context, operatorRequest("invitePerson", { body })));
    });

  withExamples(people.command("list").description("all people"), ["people list"]).action(async () => {
    const { rows } = await callForAllRows(context, "people", (after) =>
      operatorRequest("listPeople", { query: { after } }),
    );
    context.print(rows, () => tableOf(rows, columns));
  });

  withExamples(people.command("sign-in-link").description("print a link that signs a person in, once"), [
    "people sign-in-link ann@example.com",
  ])
    .argument("<email>", "of a person who was added")
    .action(async (email: string) => {
      const made = await callForRow(context, operatorRequest("createSignInLink", { body: { email } }));
      const { link, expiresAt } = made;
      context.print(made, () => recordOf({ link, expiresAt }));
    });
  forOne(
    people,
    "invite",
    "invite a person anew: the old password, authenticator, passkeys, linked accounts and sessions end",
  ).action(async (personId: string) =>
    showInvited(await callForRow(context, operatorRequest("renewInvitation", { params: { personId } }))),
  );
  withExamples(people.command("role").description("change a person's role; the person's sessions end"), [
    "people role per_8fJ2kLm4Qr9T --role analyst",
    "people role per_8fJ2kLm4Qr9T --role publisher --bot-id 7000000001",
  ])
    .argument("<person-id>", "as shown by people list")
    .addOption(new Option("--role <role>", "what the person may do").choices(roles).makeOptionMandatory())
    .option("--advertiser <name>", "whose campaigns an advertiser sees")
    .option("--bot-id <id>", "a bot that a publisher sees; repeatable", collect(telegramIdOption))
    .action(async (personId: string, { role, advertiser, botId: botIds }: AddOptions) => {
      const body = { role, advertiser, botIds };
      const person = await callForRow(context, operatorRequest("changeRole", { params: { personId }, body }));
      context.print(person, () => recordOf(person));
    });
  forOne(people, "disable", "end a person's sessions, and refuse further ones").action(async (personId: string) => {
    const person = await callForRow(context, operatorRequest("disablePerson", { params: { personId } }));
    context.print(person, () => recordOf(person));
  });
  forOne(people, "enable", "undo disable").action(async (personId: string) => {
    const person = await callForRow(context, operatorRequest("enablePerson", { params: { personId } }));
    context.print(person, () => recordOf(person));
  });
}

interface AddOptions {
  role: string;
  advertiser?: string;
  botId?: string[];
}

function forOne(people: Command, verb: string, description: string): Command {
  return withExamples(people.command(verb).description(description), [`people ${verb} per_8fJ2kLm4Qr9T`]).argument(
    "<person-id>",
    "as shown by people list",
  );
}

const columns = {
  PERSON: (person: Row) => person.personId,
  EMAIL: (person: Row) => person.email,
  ROLE: (person: Row) => person.role,
  OF: ({ advertiser, botIds }: Row) => advertiser ?? botIds,
  "SIGNS IN BY": (person: Row) => person.signInMethods,
  DISABLED: (person: Row) => person.isDisabled,
};
