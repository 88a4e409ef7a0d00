import type { TaskState } from "@intermission/ad-core/event-words";
import type { ChannelRights, TaskProof, TaskVoidReason } from "@intermission/operator-api/tasks";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const taskWords = loadWords("tasks");

type WordsFor<Word extends string> = Record<Language, Record<Word, string>>;

export const taskStateWords = loadWords("taskStates") satisfies WordsFor<TaskState>;
export const taskVoidWords = loadWords("taskVoidReasons") satisfies WordsFor<TaskVoidReason>;
export const taskProofWords = loadWords("taskProofs") satisfies WordsFor<TaskProof>;
export const channelRightsWords = loadWords("channelRights") satisfies WordsFor<ChannelRights>;
