// Forms that store a change only if nobody else has changed the object since it was read.

import { useRef, useState } from "preact/hooks";
import { ApiError } from "../../../client/src/index.ts";

type Conflict<T> = {
  /** The object as it was last read. A field keyed by its value in it is created again when somebody else has changed it. */
  readonly latest: T;
  readonly read: () => Promise<void>;
  /**
   * Executes a change of `latest`. After a conflict the object is read again; the error says so. If the response to an earlier attempt
   * was lost, and the object already has the values of `wanted`, that attempt was stored: the result is the object.
   */
  readonly attempt: <R>(change: Promise<R>, wanted?: object) => Promise<R | T>;
};

/** `name`: of the kind of object, such as "customer". */
export function useConflict<T>(name: string, given: T, retrieve: () => Promise<T>): Conflict<T> {
  const [latest, setLatest] = useState(given);
  /** An attempt since the object was read may have been stored all the same. */
  const isUnclear = useRef(false);
  const retrieveLatest = async () => {
    const stored = await retrieve();
    setLatest(stored);
    isUnclear.current = false;
    return stored;
  };
  const read = async () => void (await retrieveLatest());
  const attempt = async <R>(change: Promise<R>, wanted?: object): Promise<R | T> => {
    try {
      return await change;
    } catch (error) {
      if (isResponseLost(error)) isUnclear.current = true;
      if (!(error instanceof ApiError && error.code === "precondition_failed")) throw error;
      const wasUnclear = isUnclear.current;
      const stored = await retrieveLatest();
      if (wasUnclear && wanted !== undefined && has(stored, wanted)) return stored;
      throw new Error(wasUnclear ? unclearMessage(name) : conflictMessage(name));
    }
  };
  return { latest, read, attempt };
}

const isResponseLost = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === "network_error" || error.code === "timeout");

/** Whether an object has these values, also in objects within it. */
const has = (stored: unknown, wanted: unknown): boolean =>
  isObject(stored) && isObject(wanted)
    ? Object.entries(wanted).every(([name, value]) => has(stored[name], value))
    : stored === wanted;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

const conflictMessage = (name: string): string =>
  `Somebody else changed this ${name} while you were editing it, so nothing was saved. What they changed is shown as it is now; your other changes are kept. Check the form and try again.`;

const unclearMessage = (name: string): string =>
  `This ${name} has changed since you opened the form: the connection was lost before, so some of your changes may be saved already. What has changed is shown as it is now; your other changes are kept. Check the form and try again.`;
