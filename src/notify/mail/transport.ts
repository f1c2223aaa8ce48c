// Sends mail over the configured SMTP server. Each mail has a connection to itself while it is sent; connections are reused,
// and one that is too slow is closed without affecting the others.

import { isIPv4 } from "node:net";
import {
  createTransport,
  type NodemailerError,
  type SendMailOptions,
  type SMTPPoolOptions,
  type SMTPPoolSentMessageInfo,
  type Transporter,
} from "nodemailer";
import type { AttemptResult } from "../../domain/alerts/notification-queue.ts";
import type { Mail, Mailbox } from "../../domain/mail/mail.ts";
import { printable } from "../../domain/text.ts";
import { connectionReason } from "../connection-error.ts";

/** Timeouts in milliseconds; `total` is for one mail. */
const TIMEOUTS = { connection: 8000, greeting: 8000, inactivity: 12_000, total: 15_000, idle: 30_000 };
const MAX_MESSAGES_PER_CONNECTION = 100;

/** What a mail server may be sent as a recipient; others could be read as several addresses, or as none. */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]{1,253}$/u;
const UNUSABLE_ADDRESS = "mail cannot be sent to this address";

export type MailTransport = {
  /** `id` is that of the notification. A mail that is sent twice has the same Message-ID, by which it can be recognised. */
  send(id: string, mail: Mail): Promise<AttemptResult>;
  /** Aborts mail that is being sent: wait for it first. */
  close(): void;
};

export function openMailTransport(url: string, from: Mailbox, timeouts: Partial<typeof TIMEOUTS> = {}): MailTransport {
  const options = connectionOptions(new URL(url), from, { ...TIMEOUTS, ...timeouts });
  const open = new Set<SmtpConnection>();
  const idle: SmtpConnection[] = [];
  let isClosed = false;

  async function send(id: string, mail: Mail): Promise<AttemptResult> {
    if (isClosed) return failure(null, "the service is stopping");
    if (!ADDRESS.test(mail.to)) return failure(null, UNUSABLE_ADDRESS, true);
    const connection = idle.pop() ?? connect();
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<"timed out">((resolve) => {
      timer = setTimeout(resolve, options.totalTimeout, "timed out");
    });
    try {
      const sent = await Promise.race([connection.sendMail(messageOf(id, mail, from)), timedOut]);
      if (sent === "timed out") {
        drop(connection);
        return failure(null, `the mail server did not finish within ${options.totalTimeout / 1000} s`);
      }
      idle.push(connection);
      return { status: replyCode(sent.response) ?? 250, error: null, isPermanent: false };
    } catch (error) {
      drop(connection);
      return failureOf(error, options);
    } finally {
      clearTimeout(timer);
    }
  }

  function connect(): SmtpConnection {
    const connection = createTransport(options);
    // The mail that was being sent gets the same error; an unhandled event would end the process.
    connection.on("error", () => undefined);
    open.add(connection);
    return connection;
  }

  function drop(connection: SmtpConnection): void {
    open.delete(connection);
    connection.close({ force: true });
  }

  return {
    send,
    close() {
      isClosed = true;
      for (const connection of open) drop(connection);
    },
  };
}

type SmtpConnection = Transporter<SMTPPoolSentMessageInfo, SMTPPoolOptions>;
type SmtpOptions = SMTPPoolOptions & { readonly pool: true; readonly totalTimeout: number; readonly auth?: Credentials };
type Credentials = { readonly user: string; readonly pass: string };

/** Built from the parts of the URL, so that it cannot turn off the verification of certificates. */
function connectionOptions(url: URL, from: Mailbox, timeouts: typeof TIMEOUTS): SmtpOptions {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isLoopback = host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
  const hasLogin = url.username !== "" || url.password !== "";
  const option = (name: string): boolean | undefined => {
    const given = url.searchParams.get(name);
    return given === null ? undefined : given === "true";
  };
  const requireTLS = option("requireTLS") ?? (hasLogin && !isLoopback);
  return {
    pool: true,
    host,
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    secure: url.protocol === "smtps:",
    requireTLS,
    ignoreTLS: option("ignoreTLS") ?? (isLoopback && !requireTLS),
    ...(hasLogin ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } } : {}),
    // A host name without a dot, as in a container, would be refused by some servers.
    name: domainOf(from.address),
    maxConnections: 1,
    maxMessages: MAX_MESSAGES_PER_CONNECTION,
    // For a connection that the server has closed while it was idle.
    maxRequeues: 1,
    idleTimeout: timeouts.idle,
    connectionTimeout: timeouts.connection,
    dnsTimeout: timeouts.connection,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.inactivity,
    totalTimeout: timeouts.total,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

function messageOf(id: string, { to, subject, text, html, headers }: Mail, from: Mailbox): SendMailOptions {
  return {
    messageId: `<${id}@${domainOf(from.address)}>`,
    from: { name: from.name ?? "", address: from.address },
    to: { name: "", address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    html,
    headers: { ...headers },
  };
}

const failure = (status: number | null, error: string, isPermanent = false): AttemptResult => ({ status, error, isPermanent });

const replyCode = (reply: string | undefined): number | undefined => {
  const [code] = /^\d{3}/.exec(reply ?? "") ?? [];
  return code === undefined ? undefined : Number(code);
};

/** Only a reply to the recipient or the message ends the attempts: anything else can be repaired by whoever runs the service. */
function failureOf(error: unknown, { auth }: SmtpOptions): AttemptResult {
  const { code, originalCode, command, response } = error as NodemailerError;
  const replied = replyCode(response) ?? 0;
  const status = replied >= 400 ? replied : null;
  // A server may repeat what it was sent.
  const text = auth === undefined || auth.pass === "" ? response : response?.replaceAll(auth.pass, "…");
  const reply = status === null || text === undefined ? "" : `: ${printable(text, 200)}`;
  if (code === "EAUTH") return failure(status, "the mail server did not accept the user and password of SMTP_URL");
  if (code === "ETLS" && originalCode === undefined) return failure(status, `the mail server did not start TLS${reply}`);
  if (status === 530) return failure(status, `the mail server demands TLS or a password${reply}`);
  if (status !== null && command === "RCPT TO")
    return failure(status, `the mail server refused the recipient${reply}`, status >= 500);
  if (status !== null && command === "DATA") return failure(status, `the mail server refused the mail${reply}`, status >= 500);
  if (status !== null && command === "MAIL FROM") return failure(status, `the mail server refused the sender, MAIL_FROM${reply}`);
  if (status !== null) return failure(status, `the mail server is not available${reply}`);
  if (code === "ETIMEDOUT") return failure(null, "the mail server did not respond in time");
  if (code === "EENVELOPE") return failure(null, UNUSABLE_ADDRESS, true);
  return failure(null, `no connection to the mail server: ${connectionReason(originalCode ?? code)}`);
}
