// A real SMTP server on loopback. It keeps the mail it accepts, parsed, and fails as `behaviour` says.

import type { AddressInfo, Socket } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { TEST_CERTIFICATE } from "./certificate.ts";
import type { Lifetime } from "./service.ts";

export type ReceivedMail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly parsed: ParsedMail;
  readonly isSecure: boolean;
};

/** `hang` and `trickle`: it accepts the connection and the recipient, then never ends its reply to the message. */
export type MailServerBehaviour =
  | "accept"
  | "refuse recipient"
  | "refuse sender"
  | "refuse message"
  | "greylist"
  | "hang"
  | "trickle"
  | "no greeting"
  | "close";

type Options = {
  readonly behaviour?: MailServerBehaviour;
  /** `offered`: STARTTLS; `demanded`: nothing is accepted before it; `implicit`: TLS from the start. Its certificate is self-signed. */
  readonly tls?: "none" | "offered" | "demanded" | "implicit";
  /** Who may send; without one, everybody. */
  readonly login?: { readonly user: string; readonly password: string };
};

export type MailServer = {
  readonly port: number;
  /** Without credentials. */
  readonly url: string;
  readonly received: readonly ReceivedMail[];
  readonly connections: () => number;
  behaviour: MailServerBehaviour;
};

export async function startMailServer(
  life: Lifetime,
  { behaviour = "accept", tls = "none", login }: Options = {},
): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let connections = 0;
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();

  const options: SMTPServerOptions = {
    ...TEST_CERTIFICATE,
    secure: tls === "implicit",
    authOptional: login === undefined,
    disabledCommands: [...(tls === "none" ? ["STARTTLS"] : []), ...(login === undefined ? ["AUTH"] : [])],
    allowInsecureAuth: tls !== "demanded",
    logger: false,
    closeTimeout: 10,
    onConnect(_session, done) {
      connections++;
      if (server.behaviour === "close") done(replyOf(421, "too busy"));
      else if (server.behaviour !== "no greeting") done();
    },
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(replyOf(535, `5.7.8 wrong password ${password} of ${username}`));
    },
    onMailFrom(_address, session, done) {
      if (tls === "demanded" && !session.secure) done(replyOf(530, "5.7.0 Must issue a STARTTLS command first"));
      else if (server.behaviour === "refuse sender") done(replyOf(550, "5.7.1 sender not allowed"));
      else done();
    },
    onRcptTo(_address, _session, done) {
      if (server.behaviour === "refuse recipient") done(replyOf(550, "5.1.1 no such user"));
      else if (server.behaviour === "greylist") done(replyOf(451, "4.7.1 greylisted, try again later"));
      else done();
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", async () => {
        if (server.behaviour === "refuse message") return done(replyOf(554, "5.6.0 looks like spam"));
        if (server.behaviour === "hang") return;
        if (server.behaviour === "trickle") return trickle();
        const { mailFrom, rcptTo } = session.envelope;
        const raw = Buffer.concat(parts).toString("utf8");
        const parsed = await simpleParser(raw);
        received.push({
          ...{ raw, parsed, isSecure: session.secure },
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
        });
        done(null, "kept");
      });
    },
  };
  /** Lines of a reply that never ends, to every client. */
  function trickle(): void {
    timers.add(
      setInterval(() => {
        if (server.behaviour === "trickle") for (const socket of sockets) socket.write("250-wait\r\n");
      }, 50),
    );
  }

  const smtp = new SMTPServer(options);
  smtp.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  // A client that leaves is an error to the server.
  smtp.on("error", () => undefined);
  await new Promise<void>((resolve) => void smtp.listen(0, "127.0.0.1", resolve));
  life.after(async () => {
    for (const timer of timers) clearInterval(timer);
    await new Promise<void>((resolve) => void smtp.close(resolve));
  });
  const { port } = smtp.server.address() as AddressInfo;
  const url = `${tls === "implicit" ? "smtps" : "smtp"}://127.0.0.1:${port}`;
  const server: MailServer = { port, url, received, behaviour, connections: () => connections };
  return server;
}

const replyOf = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });
