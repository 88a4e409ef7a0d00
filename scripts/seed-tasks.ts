/** The channel that the demo's chat server simulates, and its advertiser. */
const channel = { chatId: "-1001000000002", name: "Flower News" };

interface Seed {
  /** The operator's command line, with the ad service and the chat running. */
  readonly ads: (commandArguments: readonly string[]) => Promise<string>;
  readonly botId: string;
  readonly taskBotToken: string;
}

/** Lets a bot offer a channel to join: adds the task bot, the channel and a campaign of it, as far as they are missing. */
export async function seedTasks({ ads, botId, taskBotToken }: Seed): Promise<void> {
  const [taskBotId = ""] = taskBotToken.split(":", 1);
  await ads(["bots", "update", botId, "--has-tasks", "yes"]);
  await ads(["task-bots", "add", "--token", taskBotToken]);
  const campaigns: { name: string }[] = JSON.parse(await ads(["campaigns", "list", "--json"]));
  const hasCampaign = campaigns.some(({ name }) => name === channel.name);
  const advertisers: { name: string }[] = JSON.parse(await ads(["advertisers", "list", "--json"]));
  if (!advertisers.some(({ name }) => name === channel.name))
    await ads(["advertisers", "add", channel.name, "--billing", "credit"]);
  await ads(["task-channels", "add", taskBotId, "--chat", channel.chatId, "--advertiser", channel.name]);
  if (hasCampaign) return;
  // biome-ignore format: packed
  await ads([
    "campaigns", "add", "--name", channel.name, "--advertiser", channel.name, "--format", "task",
    "--task-chat-id", channel.chatId, "--task-price", "0.05", "--task-hold-days", "3",
  ]);
}
