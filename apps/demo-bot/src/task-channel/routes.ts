import { telegramId } from "@intermission/ad-core/wire-fields";
import { type Ads, AdsError } from "@intermission/publisher";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { TaskChannel } from "./task-channel.ts";

export interface TaskChannelRoutesOptions {
  /** Undefined: the demo has no tasks. */
  readonly tasks?:
    | {
        readonly channel: TaskChannel;
        readonly ads: Pick<Ads, "checkTask">;
        readonly onTrouble: (error: unknown) => void;
      }
    | undefined;
}

const place = z.object({ userId: telegramId, link: z.string().regex(/^[0-9a-f]{1,64}$/, "is no invite link") });
const act = z.object({ act: z.enum(["join", "leave", "pass-on"]) });
/** Somebody who got the link from its user: no user of the chat has such an id. */
const STRANGER = 9_000_000_000_000;

/** What Telegram shows behind an invite link, and what a user may do there, honest or not. */
export function taskChannelRoutes(app: FastifyInstance, { tasks }: TaskChannelRoutesOptions): void {
  if (tasks === undefined) return;
  const { channel, ads, onTrouble } = tasks;
  let strangers = 0;

  app.get("/task-channel/:userId/:link", async (request) => {
    const { userId, link: hash } = parseRequest(place, request.params);
    const link = requireLink(hash);
    const isMember = channel.isMember(userId);
    return { title: channel.chat.title, isMember, isUsable: channel.isUsable(link), task: await stateOf(link.name) };
  });

  app.post("/task-channel/:userId/:link", async (request, reply) => {
    const { userId, link: hash } = parseRequest(place, request.params);
    const link = requireLink(hash);
    const { act: chosen } = parseRequest(act, request.body);
    if (chosen === "join") channel.join(userId, link);
    else if (chosen === "leave") channel.leave(userId);
    else channel.join(String(STRANGER + ++strangers), link);
    return reply.code(204).send();
  });

  function requireLink(hash: string) {
    const link = channel.findLink(hash);
    if (link) return link;
    throw new HttpError(404, "NOT_FOUND", "no such invite link: links are forgotten when the demo stops");
  }

  /** The link is named by the code of its task. Null while the ad service does not answer. */
  async function stateOf(code: string) {
    try {
      return (await ads.checkTask(code)).state;
    } catch (error) {
      if (!(error instanceof AdsError)) throw error;
      onTrouble(error);
      return null;
    }
  }
}
