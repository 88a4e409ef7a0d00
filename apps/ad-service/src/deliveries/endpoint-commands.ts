import { OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf } from "@intermission/server/command-tables";
import { type Command, Option } from "commander";
import { type CommandContext, callForRow } from "../operator-client.ts";
import { showEndpoints } from "./show-endpoints.ts";

export function endpointCommands(program: Command, context: CommandContext): void {
  const endpoints = program
    .command("endpoints")
    .description(
      "where bots' webhooks are sent: health and queues. An endpoint must answer a signed test with 2xx to become active",
    );
  const print = (endpoint: Row) => context.print(endpoint, () => recordOf(endpoint));

  withExamples(endpoints.command("list").description("all bots with their endpoints, and what is wrong with them"), [
    "endpoints list",
    "endpoints list --json",
  ]).action(async () => {
    const answer = await callForRow(context, { method: "GET", path: "/endpoints" });
    context.print(answer, () => showEndpoints(rowsOf(answer, "endpoints"), new Date(String(answer.asOf))));
  });

  ofBot(endpoints.command("show").description("show everything about one endpoint"), [
    "endpoints show 7000000001",
  ]).action(async (botId: string) => print(await callForRow(context, { method: "GET", path: `/endpoints/${botId}` })));

  ofBot(
    endpoints
      .command("enable")
      .description("begin anew: a test is sent, and once that is answered 2xx what was held goes out"),
    ["endpoints enable 7000000001", "endpoints enable 7000000001 --skip-test"],
  )
    .option("--skip-test", "active immediately: held events are sent without waiting for a test")
    .action(async (botId: string, body: { skipTest?: boolean }) => {
      const enabled = await callForRow(context, { method: "POST", path: `/endpoints/${botId}/enable`, body });
      const next = `

Its test is due now; see its answer with: endpoints test ${botId}`;
      context.print(enabled, () => `${recordOf(enabled)}${enabled.state === "pending" ? next : ""}`);
    });

  ofBot(endpoints.command("disable").description("stop sending to it; its events are held for 30 days"), [
    "endpoints disable 7000000001",
  ]).action(async (botId: string) =>
    print(await callForRow(context, { method: "POST", path: `/endpoints/${botId}/disable` })),
  );

  ofBot(endpoints.command("set").description("change settings of an endpoint"), [
    "endpoints set 7000000001 --max-in-flight 8",
  ])
    .requiredOption("--max-in-flight <number>", "webhooks in flight at the same time, 1 to 40", wholeNumber)
    .action(async (botId: string, body: { maxInFlight: number }) =>
      print(await callForRow(context, { method: "PATCH", path: `/endpoints/${botId}`, body })),
    );

  ofBot(endpoints.command("test").description("send one test event now, and show what was answered"), [
    "endpoints test 7000000001",
    "endpoints test 7000000001 --event direct_link --user-id 123456789",
  ])
    .addOption(
      new Option("--event <event>", "kind of event to test (default: rewarded)").choices(["rewarded", "direct_link"]),
    )
    .option(
      "--user-id <id>",
      "a listed tester of the bot, who may be rewarded; without it, no user is",
      telegramIdOption,
    )
    .action(async (botId: string, body: { event?: string; userId?: string }) => {
      const tested = await callForRow(context, { method: "POST", path: `/endpoints/${botId}/test`, body });
      const { advice, ...told } = tested;
      context.print(tested, () => recordOf(told));
      if (tested.isDelivered !== true) {
        throw new OperatorRefusal(200, "TEST_FAILED", `the test was not answered 2xx: ${advice}`);
      }
    });
}

function ofBot(command: Command, examples: readonly string[]): Command {
  return withExamples(command, examples).argument("<bot-id>", "Telegram id of the bot", telegramIdOption);
}
