// Forms that store a change only if nobody else has changed the object since it was read.

import { useState } from "preact/hooks";
import { ApiError } from "../../../client/src/index.ts";

type Conflict<T> = {
  /** The object as it was last read. A field keyed by its value in it is created again when somebody else has changed it. */
  readonly latest: T;
  readonly read: () => Promise<void>;
  /** Executes a change of `latest`. After a conflict the object is read again; the error says so. */
  readonly attempt: <R>(change: Promise<R>) => Promise<R>;
};

/** `name`: of the kind of object, such as "customer". */
export function useConflict<T>(name: string, given: T, retrieve: () => Promise<T>): Conflict<T> {
  const [latest, setLatest] = useState(given);
  const read = async () => setLatest(await retrieve());
  const attempt = async <R>(change: Promise<R>): Promise<R> => {
    try {
      return await change;
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "precondition_failed")) throw error;
      await read();
      throw new Error(
        `Somebody else changed this ${name} while you were editing it, so nothing was saved. What they changed is shown as it is now; your other changes are kept. Check the form and try again.`,
      );
    }
  };
  return { latest, read, attempt };
}
