// A search whose text is in the URL, as the person types.

import { useEffect, useRef } from "preact/hooks";
import { navigate, query, withQuery } from "../location.ts";
import { Icon } from "./icon.tsx";

const TYPING_MS = 300;

/** `name`: the parameter of the URL. */
type Props = { readonly name?: string; readonly label: string; readonly placeholder: string };

export function SearchField({ name = "search", label, placeholder }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = query.value.get(name) ?? "";
  const applied = useRef(search);
  // The URL changes by links, too. After a change by this field, the person may have typed more already.
  useEffect(() => {
    if (input.current !== null && applied.current !== search) input.current.value = search;
    applied.current = search;
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = () => {
    clearTimeout(timer.current);
    const text = input.current?.value.trim() ?? "";
    if (text === (query.value.get(name) ?? "")) return;
    applied.current = text;
    navigate(withQuery({ [name]: text, page: undefined }), { replace: true });
  };
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        class="input"
        id={name}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        maxLength={128}
        defaultValue={search}
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(apply, TYPING_MS);
        }}
      />
    </form>
  );
}
