import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { EndpointTrouble } from "./endpoint-trouble.ts";

export const botWords = loadWords("bots");

export const endpointWords = loadWords("endpointStates") satisfies Record<
  Language,
  Record<EndpointTrouble | "active" | "none", string>
>;
