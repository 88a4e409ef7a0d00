import type {
  CheckOwnTaskResponse,
  ListOwnTasksResponse,
  OpenTaskResponse,
  OwnTaskRequest,
} from "@intermission/ad-core/player-task-api";
import { type Answer, readEarlyAnswer } from "../ad-service-client.ts";
import { type Reply, sessionsUrl } from "../call-ad-service.ts";

/** What the list calls, for one user. */
export interface TaskCalls {
  list(): Promise<Answer<ListOwnTasksResponse>>;
  open(code: string): Promise<Answer<OpenTaskResponse>>;
  check(code: string): Promise<Answer<CheckOwnTaskResponse>>;
}

/** Launch data grows old: after the first answer, the grant that came with it shows who the user is. */
export function createTaskCalls(launched: OwnTaskRequest): TaskCalls {
  let proof = launched;
  return {
    async list() {
      const answer = await call<ListOwnTasksResponse>("tasks", proof);
      const grant = answer.outcome === "answered" ? answer.body.task_grant : undefined;
      if (grant) proof = { bot_id: launched.bot_id, task_grant: grant };
      return answer;
    },
    open: (code) => call(`tasks/${code}/open`, proof),
    check: (code) => call(`tasks/${code}/check`, proof),
  };
}

const call = <Body>(path: string, request: OwnTaskRequest): Promise<Answer<Body>> =>
  readEarlyAnswer(post<Body>(path, request));

/** As text, which needs no preflight. */
async function post<Body>(path: string, request: OwnTaskRequest): Promise<Reply<Body>> {
  const response = await fetch(sessionsUrl("").replace(/sessions$/, path), {
    method: "POST",
    body: JSON.stringify(request),
  });
  return { response, body: await response.json() };
}
