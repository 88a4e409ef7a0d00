import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { newQueryClient } from "./operator/use-operator.ts";
import { router } from "./routes.tsx";
import { loseSession } from "./session/use-session.ts";
import { shownLanguage, wordsLoaded } from "./words/word-files.ts";
import "./ui/base.css";
import "./ui/controls.css";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
wordsLoaded().then(
  () =>
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={newQueryClient(loseSession)}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    ),
  () => {
    // From `build/split-words.ts`: there are no other words to say it with.
    const failure = document.querySelector<HTMLTemplateElement>(`template[data-words-failed=${shownLanguage()}]`);
    if (failure) root.replaceChildren(failure.content);
    root.querySelector("button")?.addEventListener("click", () => location.reload());
  },
);
