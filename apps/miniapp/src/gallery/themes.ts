/** Colours as clients send them, `own`: none; and those of the worst themes that users make. */
export const themes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  own: {},
  light: {
    bg_color: "#ffffff",
    secondary_bg_color: "#efeff3",
    text_color: "#000000",
    hint_color: "#999999",
    button_color: "#2481cc",
    button_text_color: "#ffffff",
  },
  dark: {
    bg_color: "#18222d",
    secondary_bg_color: "#131415",
    text_color: "#ffffff",
    hint_color: "#b1c3d5",
    button_color: "#2ea6ff",
    button_text_color: "#ffffff",
  },
  dim: {
    bg_color: "#8a8a8a",
    secondary_bg_color: "#7d7d7d",
    text_color: "#999999",
    button_color: "#909090",
    button_text_color: "#a0a0a0",
  },
  "one-colour": {
    bg_color: "#3f8f6b",
    secondary_bg_color: "#3f8f6b",
    text_color: "#3f8f6b",
    button_color: "#3f8f6b",
    button_text_color: "#3f8f6b",
  },
  "two-pages": { bg_color: "#ffffff", secondary_bg_color: "#101010", text_color: "#444444" },
  "dark-page-only": { bg_color: "#0b0f14" },
  "light-text-only": { text_color: "#fafafa" },
  "yellow-button-only": { button_color: "#ffe600", button_text_color: "#ffffff" },
};
