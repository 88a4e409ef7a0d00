const isDigit = (codePoint: number) => /^\p{Nd}$/u.test(String.fromCodePoint(codePoint));

/** Unicode keeps the digits of a script together, zero first. */
function asciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (isDigit(zero - 1)) zero -= 1;
  return String((codePoint - zero) % 10);
}

/** The digits of a code that was typed or pasted, in those of ASCII: of any script, without blanks, dashes and dots between them. */
export function readDigits(text: string): string {
  return text.replace(/[\s\p{Pd}\p{Cf}\u2212._·]/gu, "").replace(/\p{Nd}/gu, asciiDigit);
}
