// Creations that are executed once, also if the form is submitted again because the response was lost.

import { useRef } from "preact/hooks";

/** The option for the call of the client: the same key while the fields are those of the last attempt. */
export function useIdempotencyKey(): (fields: object) => { readonly idempotencyKey: string } {
  const last = useRef({ fields: "", idempotencyKey: "" });
  return (given) => {
    const fields = JSON.stringify(given);
    if (fields !== last.current.fields) last.current = { fields, idempotencyKey: randomKey() };
    return { idempotencyKey: last.current.idempotencyKey };
  };
}

/** Not `crypto.randomUUID`, which browsers have on secure pages only. */
const randomKey = (): string => crypto.getRandomValues(new Uint8Array(16)).join("-");
