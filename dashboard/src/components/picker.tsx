// Chooses one object of many in a form: a search, and what it finds as radio buttons.

import { useContext, useEffect, useId, useState } from "preact/hooks";
import { api } from "../api.ts";
import { messageOf } from "./error-message.ts";
import { FieldErrors } from "./field.tsx";

const TYPING_MS = 250;

export type Choice = { readonly id: string; readonly title: string; readonly detail?: string };

type Props = {
  readonly label: string;
  readonly help?: string;
  readonly placeholder: string;
  /** Name of the form field that holds the chosen id. */
  readonly name: string;
  /** Chosen at first. */
  readonly initial?: Choice | undefined;
  /** What is not to be chosen at all; without it, one must be chosen. */
  readonly none?: string;
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
  readonly onChoose?: (choice: Choice | undefined) => void;
};

export function Picker({ label, help, placeholder, name, initial, none, search, onChoose }: Props) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(initial);
  const { found, problem } = useSearch(search, text);
  const id = useId();
  const error = useContext(FieldErrors)[name] ?? problem;
  const choose = (choice: Choice | undefined) => {
    setChosen(choice);
    onChoose?.(choice);
  };
  // What is chosen stays, whatever is searched for afterwards.
  const isAdded = chosen !== undefined && found?.some(({ id }) => id === chosen.id) !== true;
  const choices = [...(isAdded ? [chosen] : []), ...(found ?? [])];
  const isEmpty = found !== undefined && choices.length === 0;
  return (
    <fieldset class="field picker" aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend class="label">{label}</legend>
      <input
        class="input"
        type="search"
        aria-label={`Search: ${label}`}
        placeholder={placeholder}
        autocomplete="off"
        maxLength={128}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      {help === undefined ? null : <p class="help">{help}</p>}
      <div class="picker-options">
        <Options {...{ name, none, choices, chosen, choose }} />
        {problem === undefined && found === undefined ? <p class="dim">Loading…</p> : null}
        {problem === undefined && isEmpty ? <p class="dim">{text === "" ? "None yet." : "Nothing found."}</p> : null}
      </div>
      {error === undefined ? null : (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** What was found last, and why the latest search failed. It starts once nothing more is typed. */
function useSearch(search: Props["search"], text: string) {
  const [found, setFound] = useState<readonly Choice[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const results = await search(text.trim(), controller.signal);
        setFound(results);
        setProblem(undefined);
      } catch (reason) {
        if (!controller.signal.aborted) setProblem(messageOf(reason));
      }
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return { found, problem };
}

type OptionsProps = Pick<Props, "name" | "none"> & {
  readonly choices: readonly Choice[];
  readonly chosen: Choice | undefined;
  readonly choose: (choice: Choice | undefined) => void;
};

const Options = ({ name, none, choices, chosen, choose }: OptionsProps) => (
  <>
    {none === undefined ? null : (
      <label class="check">
        <input type="radio" name={name} value="" checked={chosen === undefined} onChange={() => choose(undefined)} />
        <span>{none}</span>
      </label>
    )}
    {choices.map((choice) => (
      <label class="check" key={choice.id}>
        <input
          type="radio"
          name={name}
          value={choice.id}
          required={none === undefined}
          checked={choice.id === chosen?.id}
          onChange={() => choose(choice)}
        />
        <span class="check-text">
          <span class="cut" dir="auto">
            {choice.title}
          </span>
          {choice.detail === undefined ? null : (
            <span class="cut dim" dir="auto">
              {choice.detail}
            </span>
          )}
        </span>
      </label>
    ))}
  </>
);

export const CustomerPicker = (props: Omit<Props, "placeholder" | "search">) => (
  <Picker placeholder="Name, e-mail, phone" search={findCustomers} {...props} />
);

async function findCustomers(search: string, signal: AbortSignal): Promise<readonly Choice[]> {
  const { data } = await api.manage.customers.list({ size: 6, signal, ...(search === "" ? {} : { search }) });
  return data.map((customer) => ({ id: customer.id, title: customer.name, detail: customer.email }));
}
