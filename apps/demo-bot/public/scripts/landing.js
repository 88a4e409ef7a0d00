import { fillWords } from "./words.js";

fillWords();
