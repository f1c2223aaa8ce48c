// Signing in: an address, then the code or the link of the mail, and a choice where several accounts have the address. A link
// opens this page with its token in the fragment, which no server sees.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Account, ApiError, type SignInProof } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Button } from "../components/button.tsx";
import { messageOf } from "../components/error-message.ts";
import { Icon } from "../components/icon.tsx";
import { Screen } from "../components/screen.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { navigate, query } from "../location.ts";
import { me } from "../me.ts";
import { loadSession, ROLE_NAMES } from "../session.ts";
import { codeSentTo, keepCodeSent, removeCodeSent } from "./code-sent.ts";
import { SingleFieldForm } from "./single-field-form.tsx";

type Step =
  | { readonly name: "email"; readonly email?: string | undefined; readonly problem?: string }
  | { readonly name: "wait" }
  | { readonly name: "failed"; readonly token: string; readonly error: unknown }
  | { readonly name: "code"; readonly email: string }
  | { readonly name: "account"; readonly email?: string; readonly accounts: readonly Account[]; readonly proof: SignInProof };

/** Returns the token of the link that was opened, and removes it from the address, which others may see. */
function takeToken(): string | undefined {
  const token = new URLSearchParams(globalThis.location.hash.slice(1)).get("token") ?? undefined;
  if (token !== undefined) history.replaceState(null, "", globalThis.location.pathname + globalThis.location.search);
  return token;
}

export default function SignIn() {
  const [step, setStep] = useState<Step>({ name: "wait" });
  useEffect(() => {
    const open = () => openLink(takeToken(), setStep);
    open();
    // A link that is opened while this page is shown changes only the fragment.
    addEventListener("hashchange", open);
    return () => removeEventListener("hashchange", open);
  }, []);
  return (
    <div class="sign-in">
      <p class="brand">
        <span class="brand-mark" aria-hidden="true" />
        Tank Monitor
      </p>
      <div class="card">
        <StepContent step={step} setStep={setStep} />
      </div>
    </div>
  );
}

type Go = (step: Step) => void;

async function openLink(token: string | undefined, setStep: Go): Promise<void> {
  if (token === undefined) {
    const email = codeSentTo();
    setStep(email === undefined ? { name: "email" } : { name: "code", email });
    return;
  }
  setStep({ name: "wait" });
  try {
    const { email, same_browser, accounts } = await api.auth.signIn.inspect({ token });
    const [only] = accounts;
    if (same_browser && accounts.length === 1 && only !== undefined) await signIn({ token, account: only.id }, setStep);
    else setStep({ name: "account", email, accounts, proof: { token } });
  } catch (error) {
    setStep(isInvalid(error) ? { name: "email", problem: LINK_INVALID } : { name: "failed", token, error });
  }
}

const COOKIE_REJECTED =
  "Your browser has rejected the cookie that signs you in. Allow cookies for this page, open it over https, and request another link.";

/** Throws if it fails. The proof can then be used again, unless the error says that it is invalid. */
async function signIn(proof: SignInProof, setStep: Go): Promise<void> {
  const result = await api.auth.session.create(proof);
  if (result.object === "account_choice") {
    setStep({ name: "account", accounts: result.accounts, proof });
    return;
  }
  removeCodeSent();
  // There is a session now. If it cannot be loaded, the screen that opens tries again.
  const isLoaded = await loadSession().then(
    () => true,
    () => false,
  );
  if (isLoaded && me.value === undefined) return setStep({ name: "email", email: proof.email, problem: COOKIE_REJECTED });
  navigate(takeReturn(query.value.get("return")), { replace: true });
}

const LINK_INVALID = "This link is not valid any more: it works once, and for 10 minutes. Request another one.";

const isInvalid = (error: unknown): boolean => error instanceof ApiError && error.code === "sign_in_invalid";

/** Five attempts are allowed, so a mistyped code needs no other mail. */
function explainCode(error: unknown): never {
  const code = error instanceof ApiError ? error.code : undefined;
  if (code === "body_invalid") throw new Error("The code has eight digits.");
  if (code !== "sign_in_invalid") throw error;
  throw new Error("This code is wrong, or not valid any more. Compare it with the newest e-mail, or send the e-mail again.");
}

function StepContent({ step, setStep }: { readonly step: Step; readonly setStep: Go }) {
  switch (step.name) {
    case "wait":
      return (
        <Screen title="Sign in">
          <Loading />
        </Screen>
      );
    case "email":
      return (
        <Screen title="Sign in">
          {query.value.has("ended") && step.problem === undefined ? (
            <p class="warning">Your session has ended. Sign in again, and you come back to where you were.</p>
          ) : null}
          <SingleFieldForm
            key="email"
            label="E-mail address"
            action="Continue"
            value={step.email}
            problem={step.problem}
            help="You get an e-mail with a link and a code. There is no password."
            submit={async (email) => {
              await api.auth.signIn.create({ email });
              keepReturn(query.value.get("return"));
              keepCodeSent(email);
              setStep({ name: "code", email });
            }}
          />
        </Screen>
      );
    case "failed":
      return <LinkFailed step={step} setStep={setStep} />;
    case "code":
      return (
        <Screen title="Check your mail">
          <p class="break">
            If <strong>{step.email}</strong> is known here, an e-mail is on its way. Open its link, or enter its code here.
          </p>
          <SingleFieldForm
            key="code"
            isCode
            label="8-digit code"
            action="Sign in"
            submit={(code) => signIn({ email: step.email, code }, setStep).catch(explainCode)}
          />
          <Button
            onClick={() => {
              removeCodeSent();
              setStep({ name: "email", email: step.email });
            }}
            look="quiet"
          >
            Use another address, or send the e-mail again
          </Button>
        </Screen>
      );
    case "account":
      return <Accounts step={step} setStep={setStep} />;
  }
}

/** The link may still be valid. */
function LinkFailed({ step, setStep }: { readonly step: Extract<Step, { name: "failed" }>; readonly setStep: Go }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector("button")?.focus(), []);
  return (
    <Screen title="Sign in">
      <div ref={box}>
        <ErrorState error={step.error} retry={() => openLink(step.token, setStep)} />
      </div>
      <Button onClick={() => setStep({ name: "email" })} look="quiet">
        Request another link
      </Button>
    </Screen>
  );
}

function Accounts({ step, setStep }: { readonly step: Extract<Step, { name: "account" }>; readonly setStep: Go }) {
  const { accounts, email, proof } = step;
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const choose = async (account: string) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    await signIn({ ...proof, account }, setStep).catch((error) => {
      if (isInvalid(error)) setStep({ name: "email", email: email ?? proof.email, problem: LINK_INVALID });
      else setProblem(messageOf(error));
    });
    setBusy(false);
  };
  const title = accounts.length === 1 ? "Sign in?" : "Which account?";
  return (
    <Screen title={title}>
      {email === undefined ? null : (
        <p class="break">
          This link is for <strong>{email}</strong>.
        </p>
      )}
      <ul class="accounts">
        {accounts.map(({ id, name, role }) => (
          <li key={id}>
            <button class="button primary account" type="button" aria-disabled={isBusy} onClick={() => choose(id)}>
              <span class="account-text">
                <span class="cut" dir="auto">
                  {accounts.length === 1 ? `Sign in as ${name}` : name}
                </span>
                <span class="cut">{ROLE_NAMES[role]}</span>
              </span>
              <Icon name="right" />
            </button>
          </li>
        ))}
      </ul>
      {problem === undefined ? null : (
        <p class="error-text" role="alert">
          {problem}
        </p>
      )}
    </Screen>
  );
}

// Where the person was before they had to sign in. The link of a mail opens another tab, so it is kept for that one, too.

const RETURN_NAME = "return-to";
/** As long as a link is valid. */
const RETURN_PATH_LIFETIME_MS = 10 * 60_000;

/** A path of this service, and nothing else. */
const ownPath = (path: string | null): string | undefined => (path !== null && /^\/(?![/\\])/.test(path) ? path : undefined);

function keepReturn(path: string | null): void {
  const to = ownPath(path);
  if (to !== undefined) localStorage.setItem(RETURN_NAME, JSON.stringify({ to, at: Date.now() }));
}

/** `given`: that of this tab. */
function takeReturn(given: string | null): string {
  const kept = JSON.parse(localStorage.getItem(RETURN_NAME) ?? "{}") as { to?: string; at?: number };
  localStorage.removeItem(RETURN_NAME);
  const isFresh = Date.now() - (kept.at ?? 0) < RETURN_PATH_LIFETIME_MS;
  return ownPath(given) ?? (isFresh ? ownPath(kept.to ?? null) : undefined) ?? "/";
}
