// Who the audit log says has changed something: a key, a user or a customer by id, and anything else by one of these names. An id
// must mean one of them only.

export const ACTORS = {
  commandLine: "command line",
  import: "import",
  demo: "demo",
  signInLink: "sign-in link",
  signInCode: "sign-in code",
  verificationLink: "verification link",
  unsubscribeLink: "unsubscribe link",
} as const;

const ACTOR_NAMES: readonly string[] = Object.values(ACTORS);

export const isActorName = (text: string): boolean => ACTOR_NAMES.includes(text);
