// Saves the tanks that the filters find, all pages of them, as a CSV file.

import { useState } from "preact/hooks";
import type { ListFleetOptions } from "../../../client/src/index.ts";
import { Dialog } from "../components/dialog.tsx";
import { counted, localDate, whole } from "../format.ts";
import { csvHeader, csvRow, FORMATS, type Format } from "./csv.ts";
import { wholeFleet } from "./request.ts";

type Props = { readonly filters: ListFleetOptions; readonly total: number; readonly close: () => void };

const LABELS: Readonly<Record<Format, string>> = {
  comma: "Comma, decimals with a point",
  semicolon: "Semicolon, decimals with a comma",
  tab: "Tab, decimals with a point",
};

/** What spreadsheets of most of Europe expect. */
const preferred = (): Format => ((1.5).toLocaleString().includes(",") ? "semicolon" : "comma");

export function ExportDialog({ filters, total, close }: Props) {
  const [read, setRead] = useState(0);
  const submit = async (form: FormData, signal: AbortSignal) => {
    const format = form.get("format") as Format;
    const lines = [csvHeader(format)];
    for await (const entry of wholeFleet({ ...filters, signal })) {
      lines.push(csvRow(entry, format));
      if (lines.length % 100 === 0) setRead(lines.length - 1);
    }
    save(lines.join("\r\n"), `fleet-${localDate(new Date())}.csv`);
  };
  return (
    <Dialog title={`Export ${counted(total, "tank")}`} action="Save CSV file" submit={submit} close={close}>
      <fieldset class="choices">
        <legend>Separator</legend>
        {FORMATS.map((format) => (
          <label key={format} class="check">
            <input type="radio" name="format" value={format} defaultChecked={format === preferred()} />
            {LABELS[format]}
          </label>
        ))}
      </fieldset>
      {read === 0 ? null : (
        <p role="status">
          {whole(read)} of {counted(total, "tank")}
        </p>
      )}
    </Dialog>
  );
}

function save(text: string, name: string): void {
  // Spreadsheets take a file with a byte-order mark for UTF-8.
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
