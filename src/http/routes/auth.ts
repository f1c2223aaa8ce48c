// /auth/v1: signing in, and the sessions of whoever is signed in. For pages of this service; programs use keys.

import { RequestError } from "../../domain/errors.ts";
import { formatInstant } from "../../domain/instant.ts";
import {
  anyOf,
  array,
  boolean,
  emailField,
  idField,
  instantField,
  literal,
  object,
  ref,
  type Static,
  text,
} from "../../domain/schema.ts";
import { AccountObject, accountObject, SessionObject, type SessionWithAccount, sessionObject } from "../../domain/session.ts";
import { cleanCode, MAX_ACCOUNTS, SIGN_IN_LINK_LIFETIME_MS } from "../../domain/sign-in.ts";
import { errorsInObject, invalidBody } from "../../domain/validate.ts";
import { listSchema, PAGE_PARAMETERS, type PageRequest, pageOfAllJson } from "../parameters.ts";
import { type JsonBodyRule, jsonBody, type Route, type RouteRequest, RouteResponse, route } from "../route.ts";
import { deletedSchema } from "./found.ts";

const SESSION = "/auth/v1/session";
const SESSIONS = "/auth/v1/sessions";

const email = emailField("The address, in whatever case", "dispatch@example.com");
const token = text({
  maxLength: 128,
  description: "The token of the link",
  examples: ["tm_4kB9vQ2mZt8xR1nLw7Hc5JyD3fG6sA0uQ9aZ"],
});
const account = idField("The user or customer to sign in as, where several have the address", "usr_01kxa8w5s0v3m4q9t7r2n6c8d1");

const SignInRequest = object({ email }, { description: "Who wants to sign in" });
const SignInToken = object({ token }, { description: "A link" });
const SignInProof = object(
  { token, email, code: text({ maxLength: 32, description: "The eight digits in the mail", examples: ["40713926"] }), account },
  { description: "The token of a link, or an address and a code" },
  ["token", "email", "code", "account"],
);
const accounts = array(ref("Account"), { maxItems: 2 * MAX_ACCOUNTS, description: "What the link or code opens" });

export const schemas = {
  Account: AccountObject,
  Session: SessionObject,
  SessionList: listSchema(ref("Session"), "One page of sessions"),
  EndedSession: deletedSchema("session", SessionObject.properties.id),
  SignInRequest,
  SignInRequested: object(
    {
      object: literal("sign_in_request", { description: "Always `sign_in_request`" }),
      email,
      expires_at: instantField("Until when the link and the code are valid, if a mail was sent"),
    },
    { description: "The same for known and unknown addresses" },
  ),
  SignInToken,
  SignInDetails: object(
    {
      object: literal("sign_in_details", { description: "Always `sign_in_details`" }),
      email: text({ description: "The address that it was sent to", examples: ["dispatch@example.com"] }),
      same_browser: boolean({
        description: "Whether the link was requested in this browser; if so, the page need not ask for confirmation",
        examples: [true],
      }),
      accounts,
      expires_at: instantField("Until when it is valid"),
    },
    { description: "A link that was not used yet" },
  ),
  SignInProof,
  AccountChoice: object(
    { object: literal("account_choice", { description: "Always `account_choice`" }), accounts },
    { description: "Several accounts have the address: send the same again, with one of them as `account`" },
  ),
};

const PROOFS = {
  link: { token: "tm_4kB9vQ2mZt8xR1nLw7Hc5JyD3fG6sA0uQ9aZ" },
  code: { email: "dispatch@example.com", code: "40713926" },
};

/** Anybody can send one. */
const MAX_BODY_BYTES = 4096;
const smallBody = (...rule: Parameters<typeof jsonBody>): JsonBodyRule => ({ ...jsonBody(...rule), maxBytes: MAX_BODY_BYTES });

const forAnybody = { tag: "Accounts", requiredRole: "none", requiresSameOrigin: true } as const;
const forSignedIn = { tag: "Accounts", requiredRole: "session", sessionRole: "customer" } as const;

export const routes: readonly Route[] = [
  route({
    ...forAnybody,
    method: "POST",
    path: "/auth/v1/sign-in",
    operation: "requestSignIn",
    summary: "Request a link and a code",
    description:
      "Sends mail with a link and a code to the address, if a user or customer has it. The response does not depend on that. At most 30 mails an hour to one address, 5 of them for one client address, and 20 requests an hour from one client address.",
    body: smallBody(ref("SignInRequest"), "The address", { email: "dispatch@example.com" }),
    response: { schema: ref("SignInRequested"), description: "If the address is known, sign-in mail is sent", status: 202 },
    errors: ["origin_not_allowed", "state_conflict", "rate_limited"],
    async handle({ services, body, client }) {
      const { email } = valid(SignInRequest, body);
      const cookie = await services.signIn.request(email, client());
      const expires_at = formatInstant(services.management.clock() + SIGN_IN_LINK_LIFETIME_MS);
      return new RouteResponse(202, { object: "sign_in_request", email, expires_at }, { "set-cookie": cookie });
    },
  }),
  route({
    ...forAnybody,
    method: "POST",
    path: "/auth/v1/sign-in/inspect",
    operation: "inspectSignInLink",
    summary: "Inspect a link",
    description: "Which accounts a link opens. The link can still be used.",
    body: smallBody(ref("SignInToken"), "The token of the link", { token: "tm_4kB9vQ2mZt8xR1nLw7Hc5JyD3fG6sA0uQ9aZ" }),
    response: { schema: ref("SignInDetails"), description: "What the link opens" },
    errors: ["origin_not_allowed", "sign_in_invalid", "keys_throttled", "store_unavailable"],
    async handle({ services, body, client }) {
      const { token } = valid(SignInToken, body);
      const { signIn, accounts, isSameBrowser } = await services.signIn.inspect(token, client());
      return {
        object: "sign_in_details",
        email: signIn.email,
        same_browser: isSameBrowser,
        accounts: accounts.map(accountObject),
        expires_at: formatInstant(signIn.expires_at),
      };
    },
  }),
  route({
    ...forAnybody,
    method: "POST",
    path: SESSION,
    operation: "signIn",
    summary: "Sign in",
    description:
      "With the token of a link, or with the address and the code in the browser that requested it. Sets the cookie of a new session. Where several accounts have the address and none is chosen, the response lists them, and the link or code can still be used.",
    body: { ...smallBody(ref("SignInProof"), "A token, or an address and a code", {}), examples: PROOFS },
    response: { schema: anyOf(ref("Session"), ref("AccountChoice")), description: "The session, or the accounts to choose from" },
    errors: ["origin_not_allowed", "sign_in_invalid", "keys_throttled", "store_unavailable"],
    async handle({ services, body, client }) {
      const { token, email, code, account } = valid(SignInProof, body);
      const { signIn } = services;
      const result =
        token === undefined
          ? await signIn.signInWithCode(...codeOf(email, code), account, client())
          : await signIn.signInWithToken(onlyToken(token, email, code), account, client());
      return new RouteResponse(200, result.object, result.setCookie === undefined ? {} : { "set-cookie": result.setCookie });
    },
  }),
  route({
    ...forSignedIn,
    path: SESSION,
    operation: "retrieveSession",
    summary: "Retrieve the session",
    description: "Who is signed in.",
    response: { schema: ref("Session"), description: "The session of this request" },
    handle: async (request) => sessionObject(sessionOf(request), sessionOf(request).id),
  }),
  route({
    ...forSignedIn,
    method: "DELETE",
    path: SESSION,
    operation: "signOut",
    summary: "Sign out",
    description: "Ends the session.",
    response: { schema: ref("EndedSession"), description: "The session that has ended" },
    errors: ["session_unknown"],
    handle: (request) => endSession(request, sessionOf(request).id),
  }),
  route({
    ...forSignedIn,
    path: SESSIONS,
    operation: "listSessions",
    summary: "List your sessions",
    description: "Where you are signed in, newest first.",
    parameters: PAGE_PARAMETERS,
    response: { schema: ref("SessionList"), description: "One page of sessions" },
    handle: async (request) => sessionsJson(request, sessionOf(request).account, request.parameters),
  }),
  route({
    ...forSignedIn,
    method: "DELETE",
    path: `${SESSIONS}/:id`,
    operation: "endSession",
    summary: "End one of your sessions",
    description: "Signs out another browser, or this one.",
    response: { schema: ref("EndedSession"), description: "The session that has ended" },
    errors: ["session_unknown"],
    handle: (request) => endSession(request, request.id),
  }),
];

function valid<S extends typeof SignInRequest | typeof SignInToken | typeof SignInProof>(schema: S, body: unknown): Static<S> {
  const errors = errorsInObject(schema, body);
  if (errors.length > 0) throw invalidBody(errors);
  return body as Static<S>;
}

function codeOf(email: string | undefined, code: string | undefined): [email: string, code: string] {
  if (email === undefined || code === undefined) {
    throw invalidBody([{ field: "", message: "must have a token, or an email and a code" }]);
  }
  const digits = cleanCode(code);
  if (digits === undefined) throw invalidBody([{ field: "code", message: "must be eight digits" }]);
  return [email, digits];
}

function onlyToken(token: string, email: string | undefined, code: string | undefined): string {
  if (email === undefined && code === undefined) return token;
  throw invalidBody([{ field: "token", message: "must not be combined with an email or a code" }]);
}

/** Routes that need a session have one. */
function sessionOf({ session }: RouteRequest): SessionWithAccount {
  if (session === null) throw new RequestError("session_missing", "Sign in first.");
  return session;
}

async function endSession(request: RouteRequest, id: string): Promise<RouteResponse> {
  const { services, client } = request;
  const current = sessionOf(request);
  const { account } = current;
  const { management } = services;
  // Customers may send many requests: an unknown id must not cost a command, which locks what others write.
  const isOwn = (await management.reads.sessionsOf(account, management.clock())).some((one) => one.id === id);
  if (!isOwn) throw new RequestError("session_unknown", "There is no session with this id.");
  const { resource } = await management.execute({ type: "end_session", id, account }, account.id);
  return new RouteResponse(
    200,
    resource.object,
    id === current.id ? { "set-cookie": client().cookies.setting("session", "", 0) } : {},
  );
}

/** One page of the sessions of an account. */
export async function sessionsJson(
  { services, session }: RouteRequest,
  account: Pick<SessionWithAccount["account"], "type" | "id">,
  page: PageRequest,
): Promise<string> {
  const { reads, clock } = services.management;
  return pageOfAllJson(await reads.sessionsOf(account, clock()), page, (one) => JSON.stringify(sessionObject(one, session?.id)));
}
