import { postgresEngine } from "../store/postgres-engine.ts";
import { longHistories } from "./histories.ts";

longHistories(postgresEngine("postgres", "en-US"));
