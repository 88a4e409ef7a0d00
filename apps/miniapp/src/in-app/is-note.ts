/** Matches the schema of the request, which also counts code points. */
export const isNote = (note: unknown): boolean => typeof note === "string" && /^[^\p{Cc}\p{Cs}]{0,128}$/u.test(note);
