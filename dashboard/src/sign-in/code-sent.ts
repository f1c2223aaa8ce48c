// Which address a code was sent to, for this tab: a phone may discard the page while its person reads the mail.

const NAME = "code-sent";
/** As long as a code is valid. */
const CODE_LIFETIME_MS = 10 * 60_000;

export const keepCodeSent = (email: string): void => sessionStorage.setItem(NAME, JSON.stringify({ email, at: Date.now() }));

export const removeCodeSent = (): void => sessionStorage.removeItem(NAME);

export function codeSentTo(): string | undefined {
  const { email, at = 0 } = JSON.parse(sessionStorage.getItem(NAME) ?? "{}") as { email?: string; at?: number };
  return Date.now() - at < CODE_LIFETIME_MS ? email : undefined;
}
