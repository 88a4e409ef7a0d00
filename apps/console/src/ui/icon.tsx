const paths = {
  overview: "M4 12l8-7 8 7M6.5 10v9.5h11V10",
  campaign: "M4 10v4h3l8 4.5v-13L7 10zM18 9.5a3.5 3.5 0 0 1 0 5M8 14l1 5.5h2.5",
  bot: "M5 9h14v9.5H5zM12 9V5.5M9 13v1.5M15 13v1.5M2.5 12.5v3M21.5 12.5v3",
  explain: "M9.2 9a2.9 2.9 0 1 1 4.3 2.6c-1 .5-1.5 1.1-1.5 2.2M12 17v.1M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z",
  timeline: "M6 5v14M6 6.5h.1M6 12h.1M6 17.5h.1M10 6.5h9M10 12h6M10 17.5h8",
  conversion: "M4 12h11M11 7.5l4.5 4.5-4.5 4.5M19.5 5v14",
  creative: "M3.5 6h17v12h-17zM10 9.5v5l4.5-2.5z",
  review: "M12 3.5l7.5 3v5.5c0 4.3-3 7.3-7.5 8.5-4.5-1.2-7.5-4.2-7.5-8.5V6.5zM8.8 12l2.3 2.3 4.2-4.4",
  report: "M4.5 19.5h15M7 16.5v-5M12 16.5v-10M17 16.5v-7",
  advertiser: "M4 20V9.5L5.5 4h13L20 9.5V20zM4 9.5h16M9.5 20v-5.5h5V20",
  publisher: "M4 7.5h14.5v12H4zM4 7.5V6l11-2v3.5M20.5 11.5h-4a2 2 0 0 0 0 4h4z",
  payout: "M3.5 12.5v7h17v-7M12 15V4M8 8l4-4 4 4",
  people:
    "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 19.5a6.5 6.5 0 0 1 13 0M16 5a3.5 3.5 0 0 1 0 6.3M18 14a6.5 6.5 0 0 1 3.5 5.5",
  audit: "M6 3.5h9l4 4v13H6zM9.5 11h6M9.5 15h6",
  system: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8v.1M7.5 16v.1",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  warning: "M12 4.5l9 15H3zM12 10v4.5M12 17v.1",
  down: "M5.5 9l6.5 6.5L18.5 9",
  next: "M9 5.5l6.5 6.5L9 18.5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0",
  edit: "M5 19h3.5L19 8.5 15.5 5 5 15.5zM13 7.5l3.5 3.5",
  pause: "M8.5 5.5v13M15.5 5.5v13",
  play: "M8 5.5v13l10.5-6.5z",
  copy: "M8.5 8.5h11v11h-11zM15.5 4.5h-11v11",
  archive: "M4 5h16v4H4zM5.5 9v10.5h13V9M10 13h4",
  columns: "M4 5h16v14H4zM9.5 5v14M14.5 5v14",
  add: "M12 5v14M5 12h14",
} as const;

export type IconName = keyof typeof paths;

/** A decorative picture beside a text, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
