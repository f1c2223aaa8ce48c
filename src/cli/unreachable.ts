// Why a service could not be asked, in words that help.

import { UserError } from "../domain/errors.ts";
import { clean } from "./width.ts";

/** The connection ended before the answer: whether it was done is not known. */
export class BrokenOff extends UserError {}

type Asked = { readonly method: string };

/** `error` is what `fetch` threw; what lies behind it is its cause. */
export function unreachable(base: string, { method }: Asked, error: unknown): UserError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = String((cause as { code?: unknown }).code ?? "");
  const message = clean(cause instanceof Error ? cause.message : String(cause));
  const { host, hostname } = new URL(base);
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new UserError(`${base} took the call and did not answer in time.${unsure(method)}`);
  }
  if (BROKEN.includes(code)) {
    return new BrokenOff(`${base} broke the connection off before it answered.${unsure(method)}`);
  }
  return new UserError(known(code, base, host, hostname) ?? `${base} cannot be reached: ${message || code}`);
}

function known(code: string, base: string, host: string, hostname: string): string | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return `nothing answers at ${base}. Is the service running, and the port right?`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `there is no host ${hostname}, or its name cannot be looked up right now`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "UND_ERR_CONNECT_TIMEOUT":
      return `${host} cannot be reached from here`;
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return `${host} does not speak TLS. Is it http:// instead of https://?`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `the certificate of ${host} is for another name`;
    case "CERT_HAS_EXPIRED":
      return `the certificate of ${host} has expired`;
    default:
      return TRUST.test(code)
        ? `the certificate of ${host} is not trusted here. One of your own is, with NODE_EXTRA_CA_CERTS=FILE`
        : undefined;
  }
}

const BROKEN = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];
const TRUST = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_UNTRUSTED/;

/** Whoever asked for a change has to look whether it was made. */
function unsure(method: string): string {
  return method === "GET" ? "" : " Whether it was done is not known: look, or call again";
}
