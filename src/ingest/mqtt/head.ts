// The first bytes of an MQTT packet: what it is, and how long.

export const CONNECT = 1;
export const PUBLISH = 3;
export const PUBREL = 6;

export type Head = {
  readonly type: number;
  /** Of the whole packet. */
  readonly size: number;
  /** A message that its sender releases with a packet of its own. */
  readonly isQos2: boolean;
};

/** Of the packet that begins there; undefined where too little of it has come. */
export function headOf(bytes: Buffer, at: number): Head | undefined {
  const first = bytes[at] ?? 0;
  const type = first >> 4;
  const isQos2 = type === PUBLISH && (first & 6) === 4;
  let length = 0;
  for (let i = 0; i < 4; i++) {
    const byte = bytes[at + 1 + i];
    if (byte === undefined) return undefined;
    length += (byte & 127) * 128 ** i;
    if (byte < 128) return { type, size: 2 + i + length, isQos2 };
  }
  return { type, size: Number.POSITIVE_INFINITY, isQos2 };
}
