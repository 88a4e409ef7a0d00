/** Weights of an INN's check digits, from the left; the sum is taken modulo 11, then 10 (https://zapolnenie.info/algoritm-proverki-inn/). */
const ofCompany = [[2, 4, 10, 3, 5, 9, 4, 6, 8]] as const;
const ofPerson = [
  [7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
  [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
] as const;

/** Whether a text is an INN with valid check digits: 10 digits for a company, 12 for a person or sole trader. */
export function isInn(text: string): boolean {
  if (!/^(?:\d{10}|\d{12})$/.test(text)) return false;
  const digits = [...text].map(Number);
  return (text.length === 10 ? ofCompany : ofPerson).every((weights) => {
    const sum = weights.reduce((total, weight, index) => total + weight * (digits[index] ?? 0), 0);
    return (sum % 11) % 10 === digits[weights.length];
  });
}
