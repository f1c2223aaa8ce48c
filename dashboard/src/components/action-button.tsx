// A button that does something at once. If that fails, a notice says why.

import { useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";
import { messageOf } from "./error-message.ts";
import { notify } from "./notices.tsx";

type Props = Pick<ButtonProps, "of" | "look" | "children"> & { readonly act: () => Promise<void> };

export function ActionButton({ act, ...rest }: Props) {
  const [isBusy, setBusy] = useState(false);
  const onClick = async () => {
    if (isBusy) return;
    setBusy(true);
    await act().catch((error) => notify({ text: messageOf(error), icon: "alert" }));
    setBusy(false);
  };
  // Not disabled, which would take the focus away.
  return <Button {...rest} aria-disabled={isBusy} onClick={onClick} />;
}
