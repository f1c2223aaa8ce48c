import { sqliteEngine } from "../store/sqlite-engine.ts";
import { longHistories } from "./histories.ts";

longHistories(sqliteEngine);
