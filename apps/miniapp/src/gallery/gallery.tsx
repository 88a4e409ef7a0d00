import { useState } from "react";
import { languages } from "../locales/languages.ts";
import { states } from "./states.tsx";
import { themes } from "./themes.ts";

/** Shows all states side by side, each in its own frame because the layout depends on the window size. */
export function Gallery() {
  const [theme, setTheme] = useState("light");
  const [language, setLanguage] = useState("en");
  const [width, setWidth] = useState("360");
  return (
    <main className="gallery">
      <header>
        <Choice label="Colours" value={theme} choices={Object.keys(themes)} onChange={setTheme} />
        <Choice label="Language" value={language} choices={Object.keys(languages)} onChange={setLanguage} />
        <Choice label="Width" value={width} choices={["320", "360", "412", "1280"]} onChange={setWidth} />
      </header>
      {Object.keys(states).map((state) => (
        <figure key={state}>
          <figcaption>
            <a href={`#${new URLSearchParams({ state, theme, language })}`}>{state}</a>
          </figcaption>
          <iframe
            title={state}
            loading="lazy"
            width={width}
            height="740"
            src={`?frame#${new URLSearchParams({ state, theme, language })}`}
          />
        </figure>
      ))}
    </main>
  );
}

function Choice(props: { label: string; value: string; choices: string[]; onChange: (value: string) => void }) {
  return (
    <label>
      {props.label}{" "}
      <select value={props.value} onChange={({ target }) => props.onChange(target.value)}>
        {props.choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  );
}
