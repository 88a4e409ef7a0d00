/** Colours as clients send them; `own`: the client sends none, `dim`: the client's colours have little contrast. */
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
};
