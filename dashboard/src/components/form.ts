// Values of a form.

/** Without spaces around it; "" if there is no such field. */
export const textIn = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();

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
