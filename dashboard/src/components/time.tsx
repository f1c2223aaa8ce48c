// A date with its time, in a table on one line.

import { dateTime } from "../format.ts";

export const Time = ({ at }: { readonly at: string }) => <time dateTime={at}>{dateTime(at)}</time>;
