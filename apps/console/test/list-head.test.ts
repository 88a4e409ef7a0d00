import { expect, test } from "vitest";
import { isFound } from "../src/ui/list-head.tsx";

test("a row is found by what was copied from elsewhere: in any case, with blanks around it, and as macOS composes letters", () => {
  const texts = ["Зимний й Café", null, "cmp_8fJ2kLm4Qr9T"];
  for (const find of [" cmp_8fj2klm4qr9t\n", "зимний", "Café".normalize("NFD"), "Й".normalize("NFD"), undefined])
    expect(isFound(find, texts)).toBe(true);
  for (const find of ["cmp_8f J2", "Cafe"]) expect(isFound(find, texts)).toBe(false);
});
