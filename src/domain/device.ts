// Devices: how one is known, and which tank it served when.

/** An EUI-64 is written in either case, by network servers and by people: it counts in lower case. */
export function deviceKey(id: string): string {
  return EUI_64.test(id) ? id.toLowerCase() : id;
}

const EUI_64 = /^[0-9A-Fa-f]{16}$/;
