import { sqlite } from "../store/engines/sqlite.ts";
import { longHistories } from "./histories.ts";

longHistories(sqlite);
