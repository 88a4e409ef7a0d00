const paths = {
  close: "M6 6l12 12M18 6L6 18",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8.5 5.5v13M15.5 5.5v13",
  "sound-off": "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5zM16 9.5l5 5M21 9.5l-5 5",
  "sound-on": "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5zM15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a7.8 7.8 0 0 1 0 11",
  captions: "M4 5.5h16v13H4zM11 10.5a2 2 0 1 0 0 3M17 10.5a2 2 0 1 0 0 3",
  "captions-off": "M4 5.5h16v13H4zM11 10.5a2 2 0 1 0 0 3M17 10.5a2 2 0 1 0 0 3M3 3.5l18 17",
  check: "M5 12.5l4.5 4.5L19 7.5",
  clock: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2",
  offline: "M3 3l18 18M5 11.5a11 11 0 0 1 4.2-2.6M8.3 15a6 6 0 0 1 7.4 0M12.5 8.1A11 11 0 0 1 19 11.5M12 18.8v.1",
  telegram: "M3.5 11.5L20.5 4.5l-3 15-5.5-4-3 3.5-.5-5.5 8-6",
  link: "M9.5 14.5l5-5M8 11l-2 2a3.5 3.5 0 0 0 5 5l2-2M16 13l2-2a3.5 3.5 0 0 0-5-5l-2 2",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0",
  windows: "M8.5 8.5h11v11h-11zM15.5 4.5h-11v11",
  note: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5v5.5M12 16.4v.1",
  info: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11.5v5M12 7.6v.1",
  update: "M19.5 12a7.5 7.5 0 1 1-2.4-5.5M19.5 4v4h-4",
  outside: "M9 6h9v9M18 6L6.5 17.5",
} as const;

export type IconName = keyof typeof paths;

/** A decorative picture beside a text, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
