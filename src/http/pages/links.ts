// The pages that links in mail lead to: /verify and /unsubscribe. Mail scanners follow links, so GET changes nothing, and a
// person clicks a button. Mail programs unsubscribe with a POST (RFC 8058), which needs neither cookie nor origin. What a wrong
// token gets does not depend on whether there is such a customer or address.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ACTORS } from "../../domain/actor.ts";
import { hasCode, RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { formatInstant } from "../../domain/instant.ts";
import { hashSecret } from "../../domain/key.ts";
import type { ManagedCustomer } from "../../domain/resource.ts";
import { customerIn, isGenuineToken } from "../../domain/unsubscribe.ts";
import { isVerificationToken } from "../../domain/verification.ts";
import { FORM_TYPE, readBytes, sendContinue } from "../body.ts";
import { clientAddress, networkOf } from "../connection-limit.ts";
import { exceeds, type Limits } from "../limits.ts";
import type { ManagementService } from "../management.ts";
import { queryOf } from "../paths.ts";
import { STATUS } from "../problems.ts";
import { type LinkPage, sendPage } from "./page.ts";

type PageOptions = {
  readonly management: ManagementService;
  readonly limits: Limits;
};

/** Undefined: the token is wrong. */
type Handle = (token: string, form: URLSearchParams) => Promise<LinkPage | undefined>;

export function registerPages(app: FastifyInstance, options: PageOptions): void {
  const { management, limits } = options;

  const showVerification: Handle = async (token) =>
    isVerificationToken(token) ? { name: "verify", action: "verify" } : undefined;

  const verify: Handle = async (token) => {
    const hash = hashSecret(token);
    const isKnown = isVerificationToken(token) && (await management.reads.verification(hash)) !== undefined;
    if (!isKnown) return undefined;
    try {
      await management.execute({ type: "verify_customer", hash }, ACTORS.verificationLink);
    } catch (error) {
      if (hasCode(error, "customer_unknown")) return undefined;
      throw error;
    }
    return { name: "verified" };
  };

  const showSubscription: Handle = async (token) => {
    const found = await subscriber(management, token);
    if (found === undefined) return undefined;
    return isUnsubscribed(found) ? UNSUBSCRIBED : { name: "subscribed", action: "unsubscribe" };
  };

  const changeSubscription: Handle = async (token, form) => {
    const isResubscribing = form.get("action") === "resubscribe";
    const found = await subscriber(management, token);
    if (found === undefined) return undefined;
    if (isUnsubscribed(found) === isResubscribing) {
      if (await exceeds(limits, "mail settings", found.customer.id)) {
        throw new RequestError("rate_limited", "Too many changes with this link.", { retryAfter: 6 });
      }
      const unsubscribed_at = isResubscribing ? null : formatInstant(management.clock());
      // A deleted customer may be restored.
      const change = { id: found.customer.id, fields: { notifications: { unsubscribed_at } }, includeDeleted: true };
      await management.execute({ type: "change_customer", ...change }, ACTORS.unsubscribeLink);
    }
    return isResubscribing ? { name: "resubscribed", action: "unsubscribe" } : UNSUBSCRIBED;
  };

  serve("GET", "/verify", showVerification, "verificationInvalid");
  serve("POST", "/verify", verify, "verificationInvalid");
  serve("GET", "/unsubscribe", showSubscription, "subscriptionInvalid");
  serve("POST", "/unsubscribe", changeSubscription, "subscriptionInvalid");

  function serve(method: "GET" | "POST", url: string, handle: Handle, invalid: LinkPage["name"]): void {
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      request.routePath = url;
      const form = method === "POST" ? await formOf(request) : NO_FORM;
      try {
        const page = await handle(tokenIn(request), form);
        if (page === undefined) await limitWrongTokens(request, limits);
        return sendPage(request, reply, page ?? { name: invalid, status: STATUS.route_unknown });
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        request.errorCode = error.code;
        if (error.retryAfter !== undefined) reply.header("retry-after", String(error.retryAfter));
        return sendPage(request, reply, { name: "unavailable", status: STATUS[error.code] });
      }
    };
    app.route({ method, url, config: { readsBody: method === "POST" }, handler });
  }
}

const NO_FORM = new URLSearchParams();
const UNSUBSCRIBED: LinkPage = { name: "unsubscribed", action: "resubscribe" };

const isUnsubscribed = ({ notifications }: ManagedCustomer): boolean => notifications.unsubscribed_at !== null;

function tokenIn({ raw }: FastifyRequest): string {
  return new URLSearchParams(queryOf(raw.url)).get("token") ?? "";
}

/** The customer whose mail the link came with. An unknown one takes as long as a wrong token of a known one. */
async function subscriber({ reads }: ManagementService, token: string): Promise<ManagedCustomer | undefined> {
  const id = customerIn(token);
  if (id === undefined || !isPossibleId(id)) return undefined;
  const [secret, found] = await Promise.all([reads.unsubscribeSecret(), reads.managedCustomer(id)]);
  const isGenuine = isGenuineToken(token, secret ?? "", found?.customer ?? { id, email: "" });
  return isGenuine && secret !== undefined ? found : undefined;
}

/** Wrong tokens count as wrong keys. */
async function limitWrongTokens(request: FastifyRequest, limits: Limits): Promise<void> {
  if (await exceeds(limits, "wrong key", networkOf(clientAddress(request)))) {
    throw new RequestError("keys_throttled", "Too many wrong links from this address.", { retryAfter: 1 });
  }
}

const MAX_FORM_BYTES = 8192;

/** Mail programs may send other forms, whose content does not matter: what they mean is in the address. */
async function formOf({ raw, headers }: FastifyRequest): Promise<URLSearchParams> {
  sendContinue(raw);
  const bytes = await readBytes(raw, MAX_FORM_BYTES, () => new RequestError("body_too_large", "The form is too large."));
  return new URLSearchParams(headers["content-type"] === FORM_TYPE ? bytes.toString() : "");
}
