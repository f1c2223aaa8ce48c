// Forms that store a change only if nobody else has changed the object since it was read.

import { useState } from "preact/hooks";
import { ApiError } from "../../../client/src/index.ts";

type Conflict<T> = {
  /** The object as it was last read. */
  readonly latest: T;
  /** Counts the reads, as a key of fields that show values of the object. */
  readonly number: number;
  /** Executes a change of `latest`. After a conflict the object is read again; the error says so. */
  readonly attempt: <R>(change: Promise<R>) => Promise<R>;
};

/** `name`: of the kind of object, such as "customer". */
export function useConflict<T>(name: string, given: T, read: () => Promise<T>): Conflict<T> {
  const [{ latest, number }, setState] = useState({ latest: given, number: 0 });
  const attempt = async <R>(change: Promise<R>): Promise<R> => {
    try {
      return await change;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "precondition_failed") throw error;
      setState({ latest: await read(), number: number + 1 });
      throw new Error(
        `Somebody else has changed this ${name}, and nothing was stored. The form has the present values now: try again.`,
      );
    }
  };
  return { latest, number, attempt };
}
