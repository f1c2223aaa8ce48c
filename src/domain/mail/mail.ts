// A mail to one recipient, as it is stored and sent.

export type Mailbox = { readonly name: string | null; readonly address: string };

/** Plain JSON: it is the payload of a notification, fixed when that is created, except for the tokens of links. */
export type Mail = {
  /** An address without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
};
