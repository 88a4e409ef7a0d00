/** A request that Telegram would refuse, or that this chat cannot carry out. */
export class BotApiRefusal extends Error {
  override readonly name = "BotApiRefusal";
  readonly status: 400 | 409;

  constructor(message: string, status: 400 | 409 = 400) {
    super(message);
    this.status = status;
  }
}
