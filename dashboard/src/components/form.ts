// Values of a form.

/** Without spaces around it; "" if there is no such field. */
export const textIn = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();

/** The fields that differ from what the form showed: what others have changed meanwhile stays. */
export function changedFields<T extends object>(shown: { readonly [N in keyof T]?: unknown }, fields: T): Partial<T> {
  const isChanged = (name: keyof T): boolean => JSON.stringify(fields[name]) !== JSON.stringify(shown[name]);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isChanged(name as keyof T))) as Partial<T>;
}

/** With a decimal comma or point. NaN for all else, also for numbers with thousands separators. */
export const decimalOf = (text: string): number => (text === "" ? Number.NaN : Number(text.replace(",", ".")));

export const decimalIn = (form: FormData, name: string): number => decimalOf(textIn(form, name));

/** 2.700 or 2,700: in many languages more than two thousand. */
const GROUPED = /^[1-9]\d{0,2}[.,]\d{3}$/;

/** What is wrong with a number that was typed; "" if nothing is, or if there is none. */
export function decimalError(text: string, isLarge: boolean): string {
  const isValid = text === "" || (Number.isFinite(decimalOf(text)) && !(isLarge && GROUPED.test(text)));
  return isValid ? "" : "Write a number such as 2700 or 22.5, without thousands separators.";
}

export const LANGUAGES = { en: "English", de: "German" } as const;

export const LANGUAGE_OPTIONS: readonly (readonly [string, string])[] = [
  ["", "By the country of the tank"],
  ...Object.entries(LANGUAGES),
];

/** null: by the country of the tank. */
export function languageIn(form: FormData, name: string): keyof typeof LANGUAGES | null {
  const language = form.get(name);
  return language === "en" || language === "de" ? language : null;
}
