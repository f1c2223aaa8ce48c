// Why there was no connection or no response, in words for the operator. Messages of libraries are not repeated: they may contain
// anything.

import { WebhookConnectionError } from "./connect.ts";

/** Undefined if we have ended it ourselves. */
export function connectionError(error: Error): string | undefined {
  if (error instanceof WebhookConnectionError) return error.message;
  if (error.name === "HTTPParserError") return "the response is not HTTP";
  const code = "code" in error ? error.code : undefined;
  return code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED" ? undefined : connectionReason(code);
}

export function connectionReason(errorCode: unknown): string {
  const code = typeof errorCode === "string" && /^\w{1,60}$/.test(errorCode) ? errorCode : "unknown error";
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? `connection failed (${code})`;
}

/** Messages by error code of Node, undici and OpenSSL. */
const REASONS: readonly [code: RegExp, message: string][] = [
  [/^ECONNREFUSED$/, "connection refused"],
  [/^ENOTFOUND$/, "host name not found"],
  [/^EAI_/, "the host name cannot be resolved at the moment"],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "the host cannot be reached"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "the connection was not established in time"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "the connection was closed before a response"],
  [/^UND_ERR_HEADERS_OVERFLOW$/, "the headers of the response are too large"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "the certificate does not match the host name"],
  [/^CERT_HAS_EXPIRED$/, "the certificate has expired"],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/, "the certificate is not trusted"],
  [/^ERR_SSL_|^EPROTO$/, "no TLS connection could be established"],
];
