import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId, useState, type KeyboardEvent } from 'react';
import { principalsQuery, SHORTEST_SEARCH } from '../../api/sharing.ts';
import { useDebounced } from '../../hooks/useDebounced.ts';
import { strings } from '../../strings/strings.ts';
import { classes } from '../../ui/classes.ts';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { optionsOf } from './principalOptions.ts';
import { PrincipalName } from './PrincipalName.tsx';
import type { Picked } from './shareDraft.ts';
import styles from './SharingDialog.module.css';

/** A field that finds people, roles and groups; by keyboard as the combobox pattern of ARIA wants it. */
export function PrincipalSearch({
  isTaken,
  mayPublic,
  onPick,
}: {
  readonly isTaken: (found: Picked) => boolean;
  readonly mayPublic: boolean;
  readonly onPick: (picked: Picked) => void;
}) {
  const text = strings.servers.sharing;
  const list = useId();
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const wanted = useDebounced(typed.trim());
  const { data, error, isFetching } = useQuery({
    ...principalsQuery(wanted),
    placeholderData: keepPreviousData,
  });
  const isAsked = wanted.length >= SHORTEST_SEARCH && typed.trim() !== '';
  const options = isAsked && data ? optionsOf(data, wanted, { isTaken, mayPublic }) : [];
  const isShown = isOpen && options.length > 0;
  const at = Math.min(active, options.length - 1);

  function pick(index: number): void {
    const option = options[index];
    if (!option) return;
    onPick(option);
    setTyped('');
    setOpen(false);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      setOpen(true);
      setActive(isShown ? (at + step + options.length) % options.length : 0);
    } else if (event.key === 'Enter' && typed !== '') {
      // What is typed here is searched for; it does not send the dialog.
      event.preventDefault();
      if (isShown) pick(at);
    } else if (event.key === 'Escape' && isShown) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  }

  return (
    <div className={styles['search']}>
      <TextField
        label={text.search}
        hint={text.searchHint}
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isShown ? `${list}-${at}` : undefined}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setOpen(true);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <ul id={list} role="listbox" aria-label={text.results} className={styles['options']} hidden={!isShown}>
        {options.map((option, index) => (
          <li
            key={`${option.type}:${option.id}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            className={classes(styles['option'], index === at && styles['active'])}
            // The field keeps the focus, so that its blur does not close the list before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(index)}
          >
            <PrincipalName principal={option} note={option.note} />
          </li>
        ))}
      </ul>
      <p className="visually-hidden" role="status">
        {isAsked && (isFetching ? text.searching : text.foundCount(options.length))}
      </p>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}
